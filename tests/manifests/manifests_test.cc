#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/patch/patch.h"
#include "api/yaml.h"
#include "server/http/testing.h"

// Runs the files of this folder; README.md says what stands in them.
namespace muster {
namespace {

using server::testing::HttpReply;
using server::testing::Site;
using server::testing::Wire;

struct Step {
  std::string title;
  std::size_t line = 0;
  std::string verb;
  std::string target;
  std::string body = {};
  std::vector<std::string> expected = {};  // without "-> "
};

struct Script {
  std::string gates;
  std::vector<Step> steps;
};

std::string trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

Script read_script(const std::filesystem::path& path) {
  Script script;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::string title;
  std::string line;
  bool in_body = false;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.starts_with("gates: ")) {
      script.gates = line.substr(7);
    } else if (line.starts_with("== ")) {
      title = line.substr(3);
      in_body = false;
    } else if (line.starts_with("-> ")) {
      script.steps.back().expected.push_back(line.substr(3));
      in_body = false;
    } else if (in_body) {
      script.steps.back().body += line + "\n";
    } else if (!line.empty() && !line.starts_with("#")) {
      const std::size_t blank = line.find(' ');
      script.steps.push_back({.title = title,
                              .line = number,
                              .verb = line.substr(0, blank),
                              .target = trimmed(line.substr(blank + 1))});
      in_body = true;
    }
  }
  return script;
}

struct Resource {
  std::string group_version;
  std::string kind;
  bool namespaced = true;
};
const std::map<std::string, Resource>& resources() {
  static const std::map<std::string, Resource> kResources = {
      {"workloads", {"scheduling.k8s.io/v1beta1", "Workload"}},
      {"podgroups", {"scheduling.k8s.io/v1beta1", "PodGroup"}},
      {"compositepodgroups", {"scheduling.k8s.io/v1alpha3", "CompositePodGroup"}},
      {"priorityclasses", {"scheduling.k8s.io/v1", "PriorityClass", false}},
      {"namespaces", {"v1", "Namespace", false}},
      {"pods", {"v1", "Pod"}},
      {"jobs", {"batch/v1", "Job"}},
      {"cronjobs", {"batch/v1", "CronJob"}},
      {"deployments", {"apps/v1", "Deployment"}},
  };
  return kResources;
}

// "podgroups@v1alpha3/name/status?dryRun=All" spelled out.
struct Target {
  std::string url;
  std::string api_version;
  std::string kind;
};
Target spell_out(const std::string& text) {
  if (text.starts_with('/')) return {.url = text, .api_version = "", .kind = ""};
  const std::size_t end = std::min({text.find('/'), text.find('?'), text.find('@'), text.size()});
  const auto known = resources().find(text.substr(0, end));
  EXPECT_NE(known, resources().end()) << text;
  std::string rest = text.substr(end);
  std::string group_version = known->second.group_version;
  if (rest.starts_with('@')) {
    const std::size_t stop = std::min({rest.find('/'), rest.find('?'), rest.size()});
    group_version =
        group_version.substr(0, group_version.rfind('/') + 1) + rest.substr(1, stop - 1);
    rest = rest.substr(stop);
  }
  const bool core = group_version.find('/') == std::string::npos;
  return {.url = fmt::format("/{}/{}{}/{}{}", core ? "api" : "apis", group_version,
                             known->second.namespaced ? "/namespaces/lab" : "", known->first, rest),
          .api_version = group_version,
          .kind = known->second.kind};
}

std::string at(const api::Json& document, std::string path) {
  const api::Json* value = &document;
  while (value != nullptr && !path.empty()) {
    // A path may step into a list: conditions[0].reason.
    const std::size_t dot = path.find('.');
    std::string part = path.substr(0, dot);
    path = dot == std::string::npos ? "" : path.substr(dot + 1);
    std::size_t index = std::string::npos;
    if (const std::size_t open = part.find('['); open != std::string::npos) {
      index = std::stoul(part.substr(open + 1));
      part = part.substr(0, open);
    }
    value = api::find(*value, part);
    if (value != nullptr && index != std::string::npos) {
      const auto* list = value->if_array();
      value = list != nullptr && index < list->size() ? &(*list)[index] : nullptr;
    }
  }
  if (value == nullptr) return "";
  return value->is_string() ? std::string(value->get_string()) : api::to_text(*value);
}

bool matches(std::string_view got, std::string_view want) {
  constexpr std::string_view kCut = "…";
  if (want.ends_with(kCut)) return got.starts_with(want.substr(0, want.size() - kCut.size()));
  return got == want;
}

class Conversation {
 public:
  explicit Conversation(const api::Gates& gates) : site_({}, {}, gates) {
    const HttpReply made =
        send("POST", "/api/v1/namespaces", "application/json", R"({"metadata":{"name":"lab"}})");
    EXPECT_EQ(made.code, 201) << made.body;
  }

  void run(const Step& step) {
    SCOPED_TRACE(fmt::format("line {}: {}", step.line, step.title));
    const HttpReply reply = ask(step);
    ASSERT_FALSE(step.expected.empty()) << "nothing is expected";
    compare(step, reply);
  }

 private:
  HttpReply send(const std::string& method, const std::string& url, const std::string& type,
                 const std::string& body) {
    Wire wire(site_, {.client = &site_.admin});
    std::vector<std::string> headers = {"Accept: application/json"};
    if (!type.empty()) headers.push_back("Content-Type: " + type);
    return wire.ask({.method = method, .target = url, .headers = headers, .body = body});
  }

  HttpReply ask(const Step& step) {
    const Target target = spell_out(step.target);
    const bool patch = step.verb.starts_with("PATCH");
    api::Json body = api::JsonObject();
    if (step.body.find_first_not_of(" \n") != std::string::npos) {
      auto parsed = api::parse_yaml(step.body);
      EXPECT_TRUE(parsed) << step.body;
      if (parsed) body = std::move(parsed->value);
    } else if (step.verb == "GET" || step.verb == "DELETE") {
      return send(step.verb, target.url, "", "");
    }
    if (step.verb == "PUT") {
      const std::string object = target.url.substr(0, target.url.find('?'));
      const HttpReply current = send("GET", object, "", "");
      EXPECT_EQ(current.code, 200) << current.body;
      body = api::merge_patch(api::parse_json(current.body).value().value, body);
    }
    if (body.is_object() && (!patch || step.verb == "PATCH+apply") && !target.kind.empty()) {
      // A body says what it is; a message to a subresource too.
      if (body.get_object().if_contains("kind") == nullptr) body.get_object()["kind"] = target.kind;
      if (body.get_object().if_contains("apiVersion") == nullptr)
        body.get_object()["apiVersion"] = target.api_version;
    }
    static const std::map<std::string, std::string> kPatchTypes = {
        {"PATCH", "application/merge-patch+json"},
        {"PATCH+json", "application/json-patch+json"},
        {"PATCH+strategic", "application/strategic-merge-patch+json"},
        {"PATCH+apply", "application/apply-patch+yaml"}};
    const std::string type = patch ? kPatchTypes.at(step.verb) : "application/json";
    const std::string method = patch ? "PATCH" : step.verb == "PUT!" ? "PUT" : step.verb;
    return send(method, target.url, type, api::to_text(body));
  }

  static void compare(const Step& step, const HttpReply& reply) {
    const auto parsed = api::parse_json(reply.body);
    const api::Json body = parsed ? parsed->value : api::Json();
    const std::string reason = at(body, "kind") == "Status" ? at(body, "reason") : "";
    EXPECT_EQ(trimmed(fmt::format("{} {}", reply.code, reason)), step.expected.front())
        << reply.body;
    const auto header = reply.headers.find("warning");
    const std::string warning = header == reply.headers.end() ? "" : header->second;
    std::vector<std::string> causes;
    for (std::size_t i = 1; i < step.expected.size(); ++i) {
      const std::string& want = step.expected[i];
      if (want.starts_with("FieldValue"))
        causes.push_back(want);
      else if (want.starts_with("message: "))
        EXPECT_NE(at(body, "message").find(want.substr(9)), std::string::npos)
            << "want " << want << "\ngot  " << at(body, "message");
      else if (want == "no warning")
        EXPECT_EQ(warning, "");
      else if (want.starts_with("warning: "))
        EXPECT_NE(warning.find(want.substr(9)), std::string::npos)
            << "want " << want << "\ngot  " << warning;
      else
        compare_member(want, body);
    }
    if (!causes.empty()) compare_causes(causes, body);
  }

  static void compare_member(const std::string& want, const api::Json& body) {
    const std::size_t equals = want.find(" =");
    ASSERT_NE(equals, std::string::npos) << "cannot read: -> " << want;
    const std::string path = want.substr(0, equals);
    EXPECT_EQ(at(body, path), trimmed(want.substr(equals + 2))) << path << " of " << body;
  }

  static void compare_causes(const std::vector<std::string>& want, const api::Json& body) {
    std::vector<std::string> got;
    const api::Json* causes = api::find_path(body, "details.causes");
    if (causes != nullptr && causes->is_array())
      for (const api::Json& cause : causes->get_array())
        got.push_back(fmt::format("{} {}: {}", at(cause, "reason"), at(cause, "field"),
                                  at(cause, "message")));
    ASSERT_EQ(got.size(), want.size()) << fmt::format("{}", fmt::join(got, "\n"));
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(matches(got[i], want[i])) << "want " << want[i] << "\ngot  " << got[i];
  }

  Site site_;
};

std::vector<std::string> scripts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MANIFESTS))
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class Manifests : public ::testing::TestWithParam<std::string> {};

TEST_P(Manifests, AreAnsweredAsWritten) {
  const Script script = read_script(std::filesystem::path(MANIFESTS) / (GetParam() + ".txt"));
  const Result<api::Gates> gates = api::Gates::parse(script.gates);
  ASSERT_TRUE(gates) << gates.error().message;
  ASSERT_FALSE(script.steps.empty());
  Conversation conversation(*gates);
  for (const Step& step : script.steps) conversation.run(step);
}

INSTANTIATE_TEST_SUITE_P(Files, Manifests, ::testing::ValuesIn(scripts()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace muster
