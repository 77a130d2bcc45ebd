#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/entropy.h"
#include "server/access/roles.h"

// The same verdicts as by the book: one binding after the other, in the order of their names.
namespace muster::server {
namespace {

api::ObjectPtr object(std::string_view kind, std::string_view json) {
  return api::Object::make(*api::find_kind("rbac.authorization.k8s.io", kind),
                           api::parse_json(json).value().value);
}

struct BookBinding {
  std::string role_kind, role;
  std::vector<std::pair<std::string, std::string>> subjects;  // kind, name
};

struct Book {
  std::map<std::string, api::Json> cluster_roles, roles;  // the rules
  std::map<std::string, BookBinding> cluster_bindings, bindings;

  static bool holds(const api::Json& rule, std::string_view member, std::string_view text) {
    const api::JsonArray* const list = api::find_array(rule, member);
    return list != nullptr && std::ranges::any_of(*list, [&](const api::Json& each) {
             return std::string_view(each.as_string()) == text;
           });
  }
  static bool is_covered(const api::Json& rule, const Attributes& asked) {
    const auto either = [&](std::string_view member, std::string_view text) {
      return holds(rule, member, "*") || holds(rule, member, text);
    };
    if (!either("verbs", asked.verb)) return false;
    if (!asked.is_resource) return either("nonResourceURLs", asked.path);
    if (!either("apiGroups", asked.group)) return false;
    const std::string sub = asked.subresource.empty() ? "" : "/" + asked.subresource;
    if (!either("resources", asked.resource + sub) &&
        (sub.empty() || !holds(rule, "resources", "*" + sub)))
      return false;
    return api::find_array(rule, "resourceNames") == nullptr ||
           holds(rule, "resourceNames", asked.name);
  }
  // Null if the binding says nothing of the user.
  static const std::pair<std::string, std::string>* who_of(const BookBinding& bound,
                                                           const api::User& user) {
    for (const auto& subject : bound.subjects)
      if (subject.first == "User"
              ? subject.second == user.name
              : std::ranges::find(user.groups, subject.second) != user.groups.end())
        return &subject;
    return nullptr;
  }
  // The reason of a decision, "!" before it if it is a refusal.
  std::string judge(const api::User& user, const Attributes& asked) const {
    std::vector<std::string> missing;
    for (const bool cluster : {true, false}) {
      if (!cluster && asked.name_space != "ns") break;
      for (const auto& [name, bound] : cluster ? cluster_bindings : bindings) {
        const auto* const who = who_of(bound, user);
        if (who == nullptr) continue;
        const auto& from = bound.role_kind == "ClusterRole" ? cluster_roles : roles;
        const auto found = from.find(bound.role);
        if (found == from.end()) {
          const std::string text = role_not_found(bound.role_kind, bound.role);
          if (std::ranges::find(missing, text) == missing.end()) missing.push_back(text);
          continue;
        }
        if (!cluster && !asked.is_resource) continue;
        for (const api::Json& each : found->second.as_array())
          if (is_covered(each, asked))
            return fmt::format(R"(RBAC: allowed by {} "{}{}" of {} "{}" to {} "{}")",
                               cluster ? "ClusterRoleBinding" : "RoleBinding", name,
                               cluster ? "" : "/ns", bound.role_kind, bound.role, who->first,
                               who->second);
      }
    }
    if (missing.empty()) return "!";
    return missing.size() == 1 ? "!RBAC: " + missing.front()
                               : fmt::format("!RBAC: [{}]", fmt::join(missing, ", "));
  }
};

class BookTest : public ::testing::Test {
 protected:
  std::uint64_t below(std::uint64_t bound) { return entropy_.below(bound); }
  std::string one_of(std::vector<std::string> from) { return from[below(from.size())]; }
  api::JsonArray some_of(const std::vector<std::string>& from) {
    api::JsonArray out;
    for (std::uint64_t i = 1 + below(2); i > 0; --i) out.emplace_back(one_of(from));
    return out;
  }
  api::Json random_rules() {
    api::JsonArray out;
    // Some are long enough to be prepared though few bind them.
    for (std::uint64_t i = below(40) == 0 ? 300 : below(3); i > 0; --i) {
      api::JsonObject rule{{"verbs", some_of({"get", "list", "watch", "a", "b", "c", "*"})}};
      if (below(6) == 0) {
        rule.emplace("nonResourceURLs", some_of({"/a", "/b", "/c", "*"}));
      } else {
        rule.emplace("apiGroups", some_of({"", "apps", "x", "y", "*"}));
        rule.emplace("resources", some_of({"pods", "pods/log", "*/log", "nodes", "u", "v", "*"}));
        if (below(4) != 0) rule.emplace("resourceNames", some_of({"p", "q", "r", "s", "*", ""}));
      }
      out.push_back(rule);
    }
    return out;
  }
  // Writes, changes or deletes one role or binding, in the book and in `changes`.
  void change_one(Roles::Changes& changes) {
    const bool cluster = below(3) == 0;
    const bool remove = below(4) == 0;
    const std::string scope = cluster ? "" : R"(,"namespace":"ns")";
    if (below(4) == 0) {
      const std::string name = fmt::format("r{}", below(12));
      auto& roles = cluster ? book_.cluster_roles : book_.roles;
      api::ObjectPtr& written = changes[cluster ? "clusterroles/" + name : "roles/ns/" + name] =
          nullptr;
      roles.erase(name);
      if (remove) return;
      const api::Json& rules = roles[name] = random_rules();
      written = object(cluster ? "ClusterRole" : "Role",
                       fmt::format(R"({{"metadata":{{"name":"{}"{}}},"rules":{}}})", name, scope,
                                   api::to_text(rules)));
      return;
    }
    const std::string name = fmt::format("b{}", below(cluster ? 4 : 120));
    auto& bindings = cluster ? book_.cluster_bindings : book_.bindings;
    api::ObjectPtr& written =
        changes[cluster ? "clusterrolebindings/" + name : "rolebindings/ns/" + name] = nullptr;
    bindings.erase(name);
    if (remove) return;
    BookBinding& bound = bindings[name];
    bound.role_kind = cluster || below(3) == 0 ? "ClusterRole" : "Role";
    bound.role = fmt::format("r{}", below(12));
    std::string subjects;
    for (std::uint64_t i = 1 + below(3); i > 0; --i) {
      bound.subjects.emplace_back(below(3) == 0
                                      ? std::pair("Group", one_of({"dev", "ops", "all"}))
                                      : std::pair("User", one_of({"jane", "jane", "joe"})));
      subjects += fmt::format(R"({}{{"kind":"{}","name":"{}"}})", subjects.empty() ? "" : ",",
                              bound.subjects.back().first, bound.subjects.back().second);
    }
    written = object(cluster ? "ClusterRoleBinding" : "RoleBinding",
                     fmt::format(R"({{"metadata":{{"name":"{}"{}}},"roleRef":{{"kind":"{}",)"
                                 R"("name":"{}"}},"subjects":[{}]}})",
                                 name, scope, bound.role_kind, bound.role, subjects));
  }
  Attributes random_question() {
    if (below(8) == 0)
      return {.is_resource = false,
              .verb = one_of({"get", "a"}),
              .name_space = one_of({"", "ns"}),
              .path = one_of({"/a", "/b", "/d"})};
    return {.is_resource = true,
            .verb = one_of({"get", "a", "z"}),
            .group = one_of({"", "apps", "z"}),
            .resource = one_of({"pods", "nodes", "z"}),
            .subresource = one_of({"", "log"}),
            .name_space = one_of({"", "ns", "ns", "ns", "other"}),
            .name = one_of({"", "p", "q", "z"})};
  }

  SeededEntropy entropy_{11};
  Book book_;
};

TEST_F(BookTest, VerdictsAndReasonsAreThoseOfTheBook) {
  const api::User users[] = {
      {.name = "jane", .groups = {"dev", "all"}},
      {.name = "joe", .groups = {"ops", "all", "dev"}},
      {.name = "jane", .groups = {}},
      {.name = "tom", .groups = {"dev", "dev"}},
      {.name = "eve", .groups = {"none"}},
  };
  int allowed = 0;
  int asked_in_all = 0;
  for (int round = 0; round < 12; ++round) {
    book_ = {};
    std::optional<Roles> now;
    now.emplace(Roles::Objects{});
    for (int version = 0; version < 40; ++version) {
      Roles::Changes changes;
      for (std::uint64_t i = version == 0 ? 400 : 1 + below(4); i > 0; --i) change_one(changes);
      const Roles next(*now, changes);
      now.emplace(next);
      for (int i = 0; i < 20; ++i) {
        const api::User& user = users[below(std::size(users))];
        const Attributes asked = random_question();
        const AccessDecision decision = now->judge(user, asked);
        ASSERT_EQ((decision.allowed ? "" : "!") + decision.reason, book_.judge(user, asked))
            << round << '/' << version << ": " << user.name << ' ' << asked.verb << ' '
            << asked.group << ' ' << asked.resource << '/' << asked.subresource << ' '
            << asked.name_space << ' ' << asked.name << ' ' << asked.path;
        allowed += decision.allowed ? 1 : 0;
        ++asked_in_all;
      }
    }
  }
  // Both outcomes are common, or the comparison would prove little.
  EXPECT_GT(allowed, asked_in_all / 10);
  EXPECT_LT(allowed, asked_in_all * 9 / 10);
}

}  // namespace
}  // namespace muster::server
