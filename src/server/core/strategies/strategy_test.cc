#include "server/core/strategies/strategy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::server {
namespace {

using api::Json;
using Part = std::string_view;

const api::Kind& kind(std::string_view group, std::string_view name) {
  return *api::find_kind(group, name);
}

Json json(std::string_view text) { return api::parse_json(text).value().value; }

std::string created(const api::Kind& of, std::string_view document) {
  Json out = json(document);
  strategy_of(of).prepare_for_create(out, {});
  return api::to_text(out);
}

// What an update is made into; `part` is the subresource.
std::string updated(const api::Kind& of, std::string_view document, std::string_view old,
                    Part part = "") {
  Json out = json(document);
  const Strategy& strategy = strategy_of(of);
  if (part.empty())
    strategy.prepare_for_update(out, json(old), {});
  else if (part == "status")
    strategy.prepare_for_status(out, json(old), {});
  else
    strategy.prepare_for_part(out, json(old), part);
  return api::to_text(out);
}

std::string defaulted(const api::Kind& of, std::string_view document) {
  Json out = json(document);
  strategy_of(of).set_defaults(out);
  return api::to_text(out);
}

TEST(Strategy, WhoCreatesAnObjectHasNoSayInItsStatus) {
  struct Case {
    const api::Kind& kind;
    std::string want;
  };
  for (const Case& one : std::vector<Case>{
           {api::kinds::pod(),
            R"({"spec":{},"status":{"phase":"Pending","qosClass":"BestEffort"}})"},
           {api::kinds::node(), R"({"spec":{},"status":{"phase":"Mine"}})"},
           {api::kinds::name_space(),
            R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})"},
           {api::kinds::pod_group(), R"({"spec":{}})"},
           {api::kinds::composite_pod_group(), R"({"spec":{}})"},
           {api::kinds::persistent_volume(), R"({"spec":{},"status":{"phase":"Pending"}})"},
           {api::kinds::persistent_volume_claim(), R"({"spec":{},"status":{"phase":"Pending"}})"},
           {kind("apps", "Deployment"), R"({"spec":{}})"},
           {kind("batch", "CronJob"), R"({"spec":{}})"},
           {kind("policy", "PodDisruptionBudget"), R"({"spec":{}})"}})
    EXPECT_EQ(created(one.kind, R"({"spec":{},"status":{"phase":"Mine"}})"), one.want)
        << one.kind.kind;
}

TEST(Strategy, UpdatesOfTheObjectAndOfItsStatusLeaveEachOtherAlone) {
  constexpr std::string_view kNow = R"({"metadata":{},"spec":{"a":"new"},"status":{"b":"new"}})";
  constexpr std::string_view kOld = R"({"metadata":{},"spec":{"a":"old"},"status":{"b":"old"}})";
  for (const api::Kind* of :
       {&api::kinds::node(), &api::kinds::pod_group(), &api::kinds::composite_pod_group(),
        &api::kinds::persistent_volume_claim(), &kind("apps", "Deployment"),
        &kind("policy", "PodDisruptionBudget"), &kind("batch", "Job"), &kind("batch", "CronJob"),
        &kind("", "Service")}) {
    EXPECT_EQ(updated(*of, kNow, kOld),
              R"({"metadata":{},"spec":{"a":"new"},"status":{"b":"old"}})")
        << of->kind;
    EXPECT_EQ(updated(*of, kNow, kOld, "status"),
              R"({"metadata":{},"spec":{"a":"old"},"status":{"b":"new"}})")
        << of->kind;
  }
}

TEST(Strategy, AGatedPodSaysThatItIsHeld) {
  EXPECT_EQ(created(api::kinds::pod(), R"({"spec":{"schedulingGates":[{"name":"a"}]}})"),
            R"({"spec":{"schedulingGates":[{"name":"a"}]},"status":{"phase":"Pending",)"
            R"("qosClass":"BestEffort","conditions":[{"type":"PodScheduled","status":"False",)"
            R"("reason":"SchedulingGated",)"
            R"("message":"Scheduling is blocked due to non-empty scheduling gates"}]}})");
  EXPECT_EQ(created(api::kinds::pod(), R"({"spec":{"schedulingGates":[]}})"),
            R"({"spec":{"schedulingGates":[]},"status":{"phase":"Pending",)"
            R"("qosClass":"BestEffort"}})");
}

TEST(Strategy, AReportAboutAPodKeepsItsQualityAndItsOwners) {
  const api::Kind& pods = api::kinds::pod();
  constexpr std::string_view kOld =
      R"({"metadata":{"deletionTimestamp":"t","ownerReferences":[{"uid":"u"}]},)"
      R"("spec":{},"status":{"qosClass":"Burstable"}})";
  EXPECT_EQ(updated(pods, R"({"metadata":{"labels":{"a":"b"}},"spec":{"x":1}})", kOld, "status"),
            R"({"metadata":{"labels":{"a":"b"},"deletionTimestamp":"t",)"
            R"("ownerReferences":[{"uid":"u"}]},"spec":{},"status":{"qosClass":"Burstable"}})");
  EXPECT_EQ(updated(pods, R"({"metadata":{},"spec":{},"status":{"qosClass":"BestEffort"}})",
                    R"({"spec":{},"status":{"qosClass":"Burstable"}})", "status"),
            R"({"metadata":{},"spec":{},"status":{"qosClass":"BestEffort"}})");
}

TEST(Strategy, AReportAboutAGroupIsItsStatusAlone) {
  constexpr std::string_view kNow =
      R"({"metadata":{"name":"g","labels":{"a":"new"},"annotations":{"a":"new"},)"
      R"("finalizers":["new"],"ownerReferences":[],"deletionTimestamp":"new","generation":2},)"
      R"("spec":{},"status":{"b":"new"}})";
  constexpr std::string_view kOld =
      R"({"metadata":{"name":"g","labels":{"a":"old"},"finalizers":["old"],"generation":1},)"
      R"("spec":{},"status":{}})";
  for (const api::Kind* of : {&api::kinds::pod_group(), &api::kinds::composite_pod_group()}) {
    Json out = json(kNow);
    strategy_of(*of).prepare_for_status(out, json(kOld), {});
    EXPECT_EQ(out.at("status"), json(R"({"b":"new"})")) << of->kind;
    EXPECT_EQ(out.at("metadata"), json(kOld).at("metadata")) << of->kind;
  }
}

TEST(Strategy, ANamespaceIsHeldUntilItIsEmpty) {
  const api::Kind& of = api::kinds::name_space();
  EXPECT_EQ(created(of, R"({"spec":{"finalizers":["a.b/c"]}})"),
            R"({"spec":{"finalizers":["a.b/c","kubernetes"]},"status":{"phase":"Active"}})");
  EXPECT_EQ(created(of, R"({"spec":{"finalizers":["kubernetes"]}})"),
            R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  constexpr std::string_view kNow = R"({"spec":{"finalizers":[]},"status":{"phase":"Mine"}})";
  constexpr std::string_view kOld =
      R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})";
  EXPECT_EQ(updated(of, kNow, kOld), kOld);
  EXPECT_EQ(updated(of, kNow, kOld, "finalize"),
            R"({"spec":{"finalizers":[]},"status":{"phase":"Active"}})");
  EXPECT_EQ(updated(of, kNow, kOld, "status"),
            R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Mine"}})");
}

TEST(Strategy, ANodeOffersAllItHasUnlessItSaysOtherwise) {
  const api::Kind& of = api::kinds::node();
  EXPECT_EQ(defaulted(of, R"({"status":{"capacity":{"cpu":"4"}}})"),
            R"({"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4"}}})");
  EXPECT_EQ(defaulted(of, R"({"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"3"}}})"),
            R"({"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"3"}}})");
  EXPECT_EQ(defaulted(of, R"({"status":{}})"), R"({"status":{}})");
  EXPECT_EQ(defaulted(of, "{}"), "{}");
}

// Seconds, -1 if it goes at once.
std::int64_t grace(const api::Kind& of, std::string_view document,
                   std::optional<std::int64_t> asked = {}) {
  return strategy_of(of).grace_period(json(document), asked).value_or(-1);
}

TEST(Strategy, APodThatRunsIsGivenTime) {
  const api::Kind& pods = api::kinds::pod();
  const auto pod = [](std::string_view spec, std::string_view phase) {
    return fmt::format(R"({{"spec":{{{}}},"status":{{"phase":"{}"}}}})", spec, phase);
  };
  constexpr std::string_view kBound = R"("nodeName":"n","terminationGracePeriodSeconds":30)";
  EXPECT_EQ(grace(pods, pod(kBound, "Running")), 30);
  EXPECT_EQ(grace(pods, pod(kBound, "Running"), 60), 60);
  EXPECT_EQ(grace(pods, pod(kBound, "Pending"), 0), 0);
  EXPECT_EQ(grace(pods, pod(kBound, "Running"), -5), 1);
  EXPECT_EQ(grace(pods, pod(R"("nodeName":"n","terminationGracePeriodSeconds":-1)", "Running")), 1);
  EXPECT_EQ(grace(pods, pod(R"("nodeName":"n")", "Running")), 0);
  EXPECT_EQ(grace(pods, pod(kBound, "Succeeded"), 60), 0);
  EXPECT_EQ(grace(pods, pod(kBound, "Failed"), 60), 0);
  EXPECT_EQ(grace(pods, pod(R"("terminationGracePeriodSeconds":30)", "Pending"), 60), 0);
  EXPECT_EQ(grace(api::kinds::node(), "{}", 60), -1);
}

TEST(Strategy, OnlyPodsAreDeletedGracefullyAndOnlySomeLeaveOrphans) {
  for (const api::Kind* each : api::all_kinds()) {
    EXPECT_EQ(strategy_of(*each).deletes_gracefully(), each == &api::kinds::pod()) << each->kind;
    EXPECT_EQ(strategy_of(*each).orphans_dependents(),
              each == &kind("batch", "Job") || each == &kind("", "ReplicationController"))
        << each->kind;
  }
}

// The fields that a document of the kind lacks, or may not have.
std::string faults(const std::vector<Cause>& causes) {
  std::string out;
  for (const Cause& cause : causes)
    if (!cause.field.starts_with("metadata")) out += (out.empty() ? "" : " ") + cause.field;
  return out;
}

// A document of this name in a namespace, with other members.
Json named(std::string_view members) {
  return json(
      fmt::format(R"({{"metadata":{{"name":"a","namespace":"d","resourceVersion":"1"}}{}{}}})",
                  members.empty() ? "" : ",", members));
}

TEST(Validation, EveryKindIsMadeByItsOwnRules) {
  struct Case {
    const api::Kind& kind;
    std::string members;
    std::string want;
  };
  for (const Case& one : std::vector<Case>{
           {api::kinds::pod(), R"("spec":{})", "spec.containers"},
           {api::kinds::node(), R"("spec":{"podCIDRs":["x"]})", "spec.podCIDRs[0]"},
           {api::kinds::name_space(), R"("spec":{"finalizers":["a b"]})", "spec.finalizers"},
           {api::kinds::priority_class(), R"("value":1,"preemptionPolicy":"Maybe")",
            "preemptionPolicy"},
           {api::kinds::lease(), R"("spec":{"leaseDurationSeconds":0})",
            "spec.leaseDurationSeconds"},
           {api::kinds::pod_group(), R"("spec":{"schedulingPolicy":{}})",
            "spec.schedulingPolicy spec.disruptionMode"},
           {api::kinds::composite_pod_group(), R"("spec":{"schedulingPolicy":{}})",
            "spec.workloadRef spec.schedulingPolicy spec.disruptionMode"},
           {api::kinds::workload(), R"("spec":{})", "spec"},
           {api::kinds::event(), R"("involvedObject":{"namespace":"other"})",
            "involvedObject.namespace"},
           {kind("events.k8s.io", "Event"), R"("regarding":{"namespace":"d"})",
            "involvedObject.namespace eventTime type"},
           {kind("batch", "Job"), R"("spec":{"parallelism":-1})",
            "spec.parallelism spec.template.spec.containers spec.template.spec.restartPolicy "
            "spec.selector spec.template.metadata.labels"},
           {kind("batch", "CronJob"), R"("spec":{"schedule":"never"})",
            "spec.schedule spec.concurrencyPolicy spec.jobTemplate.spec.template.spec.containers "
            "spec.jobTemplate.spec.template.spec.restartPolicy"},
           {kind("", "ConfigMap"), R"("data":{"a b":"c"})", "data[a b]"},
           {kind("apps", "Deployment"), R"("spec":{"replicas":-1})",
            "spec.replicas spec.selector spec.template.metadata.labels "
            "spec.template.spec.containers spec.template.spec.restartPolicy spec.strategy"}})
    EXPECT_EQ(faults(validate_create(one.kind, named(one.members), {})), one.want) << one.kind.kind;
}

TEST(Validation, WhatMayChangeDependsOnTheEndpoint) {
  struct Case {
    const api::Kind& kind;
    std::string_view part;
    std::string members;
    std::string old;
    std::string want;
  };
  for (const Case& one : std::vector<Case>{
           {api::kinds::pod(), "", R"("spec":{"nodeName":"m"})", R"("spec":{"nodeName":"n"})",
            "spec.containers spec"},
           {api::kinds::pod(), "status", R"("status":{"nominatedNodeName":"a b"})", "",
            "status.nominatedNodeName"},
           {api::kinds::pod(), "resize", R"("spec":{"nodeName":"m"})", R"("spec":{"nodeName":"n"})",
            "spec.containers spec"},
           {api::kinds::node(), "", R"("spec":{"podCIDRs":["10.0.0.0/24"]})",
            R"("spec":{"podCIDRs":["10.0.1.0/24"]})", "spec.podCIDRs"},
           {api::kinds::name_space(), "", R"("status":{"phase":"Terminating"})", "", ""},
           {api::kinds::name_space(), "status", R"("status":{"phase":"Terminating"})", "",
            "status.Phase"},
           {api::kinds::name_space(), "finalize", R"("spec":{"finalizers":["a b"]})", "",
            "spec.finalizers"},
           {api::kinds::priority_class(), "", R"("value":1)", R"("value":2)", "value"},
           {api::kinds::lease(), "", R"("spec":{"leaseTransitions":-1})", "",
            "spec.leaseTransitions"},
           {api::kinds::pod_group(), "", R"("spec":{"schedulingPolicy":{"basic":{}}})",
            R"("spec":{"schedulingPolicy":{"gang":{"minCount":1}}})",
            "spec.schedulingPolicy.basic spec.schedulingPolicy.gang"},
           {api::kinds::pod_group(), "status", R"("status":{"conditions":[{}]})", "",
            "status.conditions[0].type status.conditions[0].status "
            "status.conditions[0].lastTransitionTime status.conditions[0].reason"},
           {api::kinds::composite_pod_group(), "", R"("spec":{"schedulingPolicy":{"basic":{}}})",
            R"("spec":{"schedulingPolicy":{"gang":{"minGroupCount":1}}})", "spec.schedulingPolicy"},
           {api::kinds::composite_pod_group(), "status", R"("status":{"conditions":[{}]})", "",
            "status.conditions[0].type status.conditions[0].status "
            "status.conditions[0].lastTransitionTime status.conditions[0].reason"},
           {api::kinds::workload(), "", R"("spec":{"podGroupTemplates":[{"name":"a"}]})",
            R"("spec":{"podGroupTemplates":[{"name":"b"}]})",
            "spec.podGroupTemplates[0] spec.podGroupTemplates"},
           {api::kinds::event(), "", R"("message":"a")", R"("message":"b")",
            "involvedObject.namespace"},
           {kind("events.k8s.io", "Event"), "",
            R"("eventTime":"2026-05-01T10:00:00.000000Z","message":"a")",
            R"("eventTime":"2026-05-01T10:00:00.000000Z","message":"b")",
            "involvedObject.namespace reportingController reportingController reportingController "
            "reportingInstance action reason message"},
           {kind("batch", "Job"), "", R"("spec":{"completions":1})", R"("spec":{"completions":2})",
            "spec.template.spec.containers spec.template.spec.restartPolicy spec.selector "
            "spec.template.metadata.labels spec.completions"},
           {kind("batch", "Job"), "status", R"("status":{"active":-1})", "", "status.active"},
           {kind("batch", "CronJob"), "", R"("spec":{"schedule":"never"})", "",
            "spec.schedule spec.concurrencyPolicy spec.jobTemplate.spec.template.spec.containers "
            "spec.jobTemplate.spec.template.spec.restartPolicy"},
           {kind("batch", "CronJob"), "status", R"("spec":{"schedule":"never"})", "", ""},
           {kind("apps", "Deployment"), "", R"("spec":{"replicas":-1})", "",
            "spec.replicas spec.selector spec.template.metadata.labels "
            "spec.template.spec.containers spec.template.spec.restartPolicy spec.strategy"},
           {kind("apps", "Deployment"), "status", R"("spec":{"replicas":-1})", "", ""}})
    EXPECT_EQ(faults(validate_update(one.kind, named(one.members), named(one.old), one.part, {})),
              one.want)
        << one.kind.kind << " " << one.part;
}

TEST(Validation, WarningsOfAnUpdateAreThoseThatAreNew) {
  const api::Kind& of = kind("", "ReplicationController");
  const Json document = json(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(warnings_about(of, document, {}).size(), 1U);
  EXPECT_EQ(warnings_about_update(of, document, json(R"({"spec":{"replicas":2}})"), {}).size(), 0U);
  EXPECT_EQ(warnings_about(kind("", "ConfigMap"), json("{}"), {}).size(), 0U);
}

}  // namespace
}  // namespace muster::server
