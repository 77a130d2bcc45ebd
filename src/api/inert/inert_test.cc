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

TEST(Inert, WhatSaysSomethingIsSaid) {
  EXPECT_EQ(said("", "Pod", R"({"spec":{"activeDeadlineSeconds":0,"runtimeClassName":"r"}})"),
            (Sentences{"spec.activeDeadlineSeconds is stored, but nothing in this control plane "
                       "acts on it: pretend nodes end no pod for it",
                       "spec.runtimeClassName is stored, but nothing in this control plane acts on "
                       "it: there are no RuntimeClasses, and nothing is added to what the pod asks "
                       "for"}));
  EXPECT_EQ(said("scheduling.k8s.io", "PodGroup", R"({"spec":{"resourceClaims":[{"name":"c"}]}})"),
            Sentences{"spec.resourceClaims is stored, but nothing in this control plane acts on "
                      "it: no devices are allocated to it"});
  EXPECT_EQ(said("", "PersistentVolumeClaim", R"({"spec":{"dataSource":{},"dataSourceRef":null}})"),
            Sentences{"spec.dataSource is stored, but nothing in this control plane acts on it: "
                      "the volume is made empty"});
  EXPECT_EQ(said("", "Service", "{}"),
            Sentences{"Service is stored, but nothing in this control plane acts on it: no traffic "
                      "is routed by it"});
}

TEST(Inert, OfAListTheFirstIsNamed) {
  EXPECT_EQ(said("", "Pod",
                 R"({"spec":{"initContainers":[{},{"restartPolicy":"OnFailure"},
                 {"restartPolicy":"Always"},{"restartPolicy":"Always"}]}})"),
            Sentences{"spec.initContainers[2].restartPolicy: Always is stored, but nothing in this "
                      "control plane acts on it: pretend nodes end it like any other init "
                      "container"});
}

TEST(Inert, TemplatesOfEveryKindAreLookedAt) {
  EXPECT_EQ(
      said("apps", "Deployment", R"({"spec":{"template":{"spec":{"resourceClaims":[{}]}}}})"),
      Sentences{"spec.template.spec.resourceClaims is stored, but nothing in this control "
                "plane acts on it: no devices are allocated to it, and the pod is not bound"});
  EXPECT_EQ(
      said("leaderworkerset.x-k8s.io", "LeaderWorkerSet",
           R"({"spec":{"leaderWorkerTemplate":{"leaderTemplate":{"spec":{"runtimeClassName":"r"}},
           "workerTemplate":{"spec":{"runtimeClassName":"r"}}}}})")
          .size(),
      2U);
  EXPECT_TRUE(said("apps", "ReplicaSet", R"({"spec":{"template":{"spec":{}}}})").empty());
}

TEST(Inert, OnlyAbsentComponentsAreAReasonIfAsked) {
  const Kind& stateful = kind("apps", "StatefulSet");
  const Json set = json(R"({"spec":{"updateStrategy":{"type":"Recreate"}}})");
  const Absent absent{"statefulset"};
  const std::string is_off =
      "StatefulSet is stored, but statefulset is switched off, and nothing else acts on it: no "
      "pods are created for it";
  EXPECT_EQ(inert_sentences(stateful, set, absent),
            (Sentences{"spec.updateStrategy.type: Recreate is stored, but nothing in this control "
                       "plane acts on it: pods are replaced as by RollingUpdate",
                       is_off}));
  EXPECT_EQ(inert_sentences(stateful, set, absent, InertBecause::SwitchedOff), Sentences{is_off});
  EXPECT_EQ(inert_sentences(stateful, set, {}, InertBecause::SwitchedOff), Sentences{});
  EXPECT_EQ(inert_sentences(stateful, set, {"job"}, InertBecause::SwitchedOff), Sentences{});
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
  EXPECT_TRUE(may_be_inert(kind("", "Service")));
  EXPECT_TRUE(may_be_inert(kind("batch", "CronJob")));
  EXPECT_TRUE(could_be_inert(kind("", "Service"), "{}", {})) << "a rule about the whole kind";
  EXPECT_FALSE(could_be_inert(kind("", "Namespace"), "{}", {}));
  EXPECT_TRUE(could_be_inert(kind("", "Namespace"), "{}", {"namespace-defaults"}));
  EXPECT_FALSE(could_be_inert(kind("", "ConfigMap"), R"({"lifecycle":{}})", all));
  EXPECT_TRUE(could_be_inert(kind("apps", "ReplicaSet"),
                             R"({"template":{"spec":{"containers":[{"lifecycle":{}}]}}})", {}));
  EXPECT_FALSE(could_be_inert(kind("apps", "ReplicaSet"), R"({"a":"lifecycle"})", {}));
}

}  // namespace
}  // namespace muster::api
