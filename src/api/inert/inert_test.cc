#include "api/inert/inert.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace muster::api {
namespace {

using Sentences = std::vector<std::string>;

Json json(std::string_view text) {
  const auto parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed->value;
}

const Kind& kind(std::string_view group, std::string_view name) {
  const Kind* const found = find_kind(group, name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

Sentences said(std::string_view group, std::string_view name, std::string_view document,
               const Absent& absent = {}) {
  return inert_sentences(kind(group, name), json(document), absent);
}

// The message that the path leads to from `from`; null if a member does not exist or has no fields
// of its own.
const schema::Field* field_at(const schema::Message* from, std::string_view path) {
  const schema::Field* field = nullptr;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    std::string_view step = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    const bool is_list = step.ends_with("[]");
    if (is_list) step.remove_suffix(2);
    field = from == nullptr ? nullptr : from->find(step);
    if (field == nullptr || (is_list && field->repeat != schema::Repeat::List)) return nullptr;
    from = field->message;
  }
  return field;
}

// The row of docs/limits.md.
std::string row(const InertRule& rule) {
  std::string what = std::string(rule.kind);
  if (!rule.field.empty())
    what += fmt::format(" `{}{}{}`", rule.kind == "Pod" ? "spec." : "", rule.field,
                        rule.value.empty() ? "" : fmt::format(": {}", rule.value));
  if (!rule.component.empty()) what += fmt::format(" without `{}`", rule.component);
  return fmt::format("| {} | {} |\n", what, rule.consequence);
}

TEST(Inert, EveryRuleIsAboutAFieldThatThereIs) {
  for (const InertRule& rule : inert_rules()) {
    const Kind& about = kind(rule.group, rule.kind);
    if (rule.field.empty()) continue;
    const std::string path = (rule.kind == "Pod" ? "spec." : "") + std::string(rule.field);
    EXPECT_NE(field_at(about.message, path), nullptr) << rule.kind << " " << path;
  }
  for (const TemplatePlace& place : template_places()) {
    const schema::Field* field = field_at(kind(place.group, place.kind).message, place.path);
    ASSERT_NE(field, nullptr) << place.kind << " " << place.path;
    EXPECT_EQ(field->message->name, "PodTemplateSpec") << place.kind << " " << place.path;
  }
}

TEST(Inert, ThePageOfLimitsHasEveryRule) {
  std::ifstream file(LIMITS_PAGE);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const InertRule& rule : inert_rules())
    EXPECT_NE(page.find(row(rule)), std::string::npos) << row(rule);
}

TEST(Inert, AValueIsSaidOnlyIfItIsThatValue) {
  EXPECT_EQ(said("", "Secret", R"({"type":"Opaque"})"), Sentences{});
  EXPECT_EQ(said("", "Secret", R"({"type":"bootstrap.kubernetes.io/token"})"),
            Sentences{"type: bootstrap.kubernetes.io/token is stored, but nothing in this control "
                      "plane acts on it: nobody can sign in with it"});
  EXPECT_EQ(said("storage.k8s.io", "StorageClass", R"({"allowVolumeExpansion":false})"),
            Sentences{});
  EXPECT_EQ(said("storage.k8s.io", "StorageClass", R"({"allowVolumeExpansion":true})").size(), 1U);
}

TEST(Inert, AnEmptyValueSaysNothing) {
  EXPECT_EQ(said("scheduling.k8s.io", "PodGroup", R"({"spec":{"resourceClaims":[]}})"),
            Sentences{});
  EXPECT_EQ(said("", "Pod", R"({"spec":{"runtimeClassName":"","readinessGates":null}})"),
            Sentences{});
}

TEST(Inert, ThePlaceInTemplatesIsNamed) {
  EXPECT_EQ(said("jobset.x-k8s.io", "JobSet",
                 R"({"spec":{"replicatedJobs":[{},{"template":{"spec":{"template":{"spec":
                 {"containers":[{"lifecycle":{}}]}}}}}]}})"),
            Sentences{"spec.replicatedJobs[1].template.spec.template.spec.containers[0].lifecycle "
                      "is stored, but nothing in this control plane acts on it: pretend nodes run "
                      "no hooks"});
}

TEST(Inert, AComponentThatIsOffIsNamed) {
  EXPECT_EQ(said("batch", "Job", R"({"spec":{}})"), Sentences{});
  EXPECT_EQ(said("batch", "Job", R"({"spec":{}})", {"job"}),
            Sentences{"Job is stored, but job is switched off, and nothing else acts on it: no "
                      "pods are created for it"});
  EXPECT_TRUE(said("batch", "Job", R"({"spec":{"ttlSecondsAfterFinished":0}})").empty());
  EXPECT_EQ(
      said("batch", "Job", R"({"spec":{"ttlSecondsAfterFinished":0}})", {"ttl-after-finished"})
          .size(),
      1U);
}

// Whatever has a sentence is not ruled out by its bytes.
TEST(Inert, BytesNeverRuleOutWhatHolds) {
  Absent all;
  for (const InertRule& rule : inert_rules())
    if (!rule.component.empty()) all.emplace(rule.component);
  const Kind& pod = kind("", "Pod");
  const std::string probed = R"({"spec":{"containers":[{"name":"c","livenessProbe":{}}]}})";
  EXPECT_EQ(inert_sentences(pod, json(probed), {}).size(), 1U);
  EXPECT_TRUE(could_be_inert(pod, probed, {}));
  const std::string plain = R"({"spec":{"containers":[{"name":"c"}]}})";
  EXPECT_FALSE(could_be_inert(pod, plain, {}));
  EXPECT_TRUE(could_be_inert(pod, plain, all));
  EXPECT_FALSE(may_be_inert(kind("", "ConfigMap")));
}

}  // namespace
}  // namespace muster::api
