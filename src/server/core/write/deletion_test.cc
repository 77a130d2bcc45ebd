#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class DeletionTest : public CoreTest {
 protected:
  // A pod on a node: only such pods are deleted gracefully.
  void run_pod(std::string_view name, std::string_view metadata_members = {}) {
    ASSERT_TRUE(create_pod(name, "", metadata_members));
    ASSERT_TRUE(bind(name, "n1"));
  }
  static api::DeleteOptions grace(std::int64_t seconds) {
    api::DeleteOptions options;
    options.grace_period_s = seconds;
    return options;
  }
};

TEST_F(DeletionTest, AnUnscheduledPodGoesAtOnce) {
  const auto pod = create_pod("web");
  const auto gone = remove(pods(), "default", "web");
  EXPECT_EQ(at(gone, "metadata.deletionGracePeriodSeconds"), "0") << message(gone);
  EXPECT_GT(revision(gone), revision(pod));
  EXPECT_EQ(revision(gone), store_->revision());
  EXPECT_EQ(message(get(pods(), "default", "web")), R"(pods "web" not found)");
  EXPECT_EQ(message(remove(pods(), "default", "web")), R"(pods "web" not found)");
}

TEST_F(DeletionTest, ARunningPodGetsItsGracePeriod) {
  run_pod("web");
  const auto pod = remove(pods(), "default", "web");
  EXPECT_EQ(at(pod, "metadata.deletionTimestamp"), "2026-05-01T10:00:30Z") << message(pod);
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "30");
  EXPECT_EQ(at(pod, "metadata.generation"), "2");

  const auto longer = remove(pods(), "default", "web", grace(60));
  EXPECT_EQ(revision(longer), revision(pod));
  const auto shorter = remove(pods(), "default", "web", grace(5));
  EXPECT_EQ(at(shorter, "metadata.deletionTimestamp"), "2026-05-01T10:00:05Z");
  EXPECT_EQ(at(shorter, "metadata.generation"), "2");
  ASSERT_TRUE(remove(pods(), "default", "web", grace(0)));
  EXPECT_EQ(reason(get(pods(), "default", "web")), Reason::NotFound);
}

// Nobody can read a year of five digits: clients fail, and we took such a pod for one that stays.
TEST_F(DeletionTest, APodGoesBeforeTheYearsRunOut) {
  constexpr std::int64_t kCenturies = 300'000'000'000;
  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  constexpr std::string_view kLast = "9999-12-31T23:59:59Z";
  const auto ask = [&](const std::string& name, std::int64_t in_spec, api::DeleteOptions options) {
    EXPECT_TRUE(create_pod(name, fmt::format(R"("terminationGracePeriodSeconds":{})", in_spec)));
    EXPECT_TRUE(bind(name, "n1"));
    return remove(pods(), "default", name, std::move(options));
  };
  EXPECT_EQ(at(ask("a", kCenturies, {}), "metadata.deletionTimestamp"), kLast);
  EXPECT_EQ(at(ask("b", kForever, {}), "metadata.deletionTimestamp"), kLast);
  EXPECT_EQ(at(ask("c", 30, grace(kCenturies)), "metadata.deletionTimestamp"), kLast);
  const auto longest = ask("d", 30, grace(kForever));
  EXPECT_EQ(at(longest, "metadata.deletionTimestamp"), kLast);
  const std::int64_t left = (*parse_time(kLast) - now_) / std::chrono::seconds(1);
  EXPECT_EQ(at(longest, "metadata.deletionGracePeriodSeconds"), std::to_string(left));

  EXPECT_EQ(revision(remove(pods(), "default", "d", grace(kForever))), revision(longest));
  const auto shorter = remove(pods(), "default", "d", grace(7));
  EXPECT_EQ(at(shorter, "metadata.deletionTimestamp"), "2026-05-01T10:00:07Z");
  EXPECT_EQ(at(shorter, "metadata.deletionGracePeriodSeconds"), "7");
}

// T3a: a kubelet that reports the status of a pod on its way out does not end it early.
TEST_F(DeletionTest, AnUpdateDoesNotEndTheGracePeriod) {
  run_pod("web");
  ASSERT_TRUE(remove(pods(), "default", "web"));
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"status":{"message":"stopping"}})", "status"));
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"b"}}})"));
  const auto pod = get(pods(), "default", "web");
  ASSERT_TRUE(pod) << message(pod);
  EXPECT_EQ(at(pod, "status.message"), "stopping");
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "30");
}

TEST_F(DeletionTest, AFinishedPodNeedsNoGrace) {
  run_pod("web");
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"status":{"phase":"Succeeded"}})", "status"));
  ASSERT_TRUE(remove(pods(), "default", "web"));
  EXPECT_EQ(reason(get(pods(), "default", "web")), Reason::NotFound);
}

TEST_F(DeletionTest, FinalizersHoldAnObjectUntilTheLastIsGone) {
  ASSERT_TRUE(
      create(nodes(), "", R"({"metadata":{"name":"n1","finalizers":["example.com/hold"]}})"));
  const auto node = remove(nodes(), "", "n1");
  EXPECT_EQ(at(node, "metadata.deletionTimestamp"), "2026-05-01T10:00:00Z") << message(node);
  EXPECT_EQ(at(node, "metadata.deletionGracePeriodSeconds"), "0");
  EXPECT_EQ(revision(remove(nodes(), "", "n1")), revision(node));

  const auto added = merge(nodes(), "", "n1",
                           R"({"metadata":{"finalizers":["example.com/hold","example.com/b"]}})");
  EXPECT_EQ(reason(added), Reason::Invalid);
  EXPECT_NE(message(added).find("no new finalizers can be added if the object is being deleted"),
            std::string::npos);
  const auto undone = merge(nodes(), "", "n1", R"({"metadata":{"deletionTimestamp":null}})");
  EXPECT_EQ(at(undone, "metadata.deletionTimestamp"), "2026-05-01T10:00:00Z");

  const auto last = merge(nodes(), "", "n1", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(at(last, "metadata.name"), "n1") << message(last);
  EXPECT_EQ(revision(last), store_->revision());
  EXPECT_EQ(reason(get(nodes(), "", "n1")), Reason::NotFound);
}

TEST_F(DeletionTest, MostKindsAnswerWithAStatus) {
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n1"}})"));
  const auto gone = remove(nodes(), "", "n1");
  ASSERT_TRUE(gone) << message(gone);
  const auto& status = std::get<api::StatusAnswer>(gone->what);
  EXPECT_EQ(status.name, "n1");
  EXPECT_EQ(status.kind, "nodes");
  EXPECT_EQ(status.uid.size(), 36U);
  EXPECT_EQ(status.code, 200);
}

TEST_F(DeletionTest, PreconditionsAreChecked) {
  const auto pod = create_pod("web");
  api::DeleteOptions options;
  options.preconditions.uid = "other";
  EXPECT_EQ(
      message(remove(pods(), "default", "web", options)),
      R"(Operation cannot be fulfilled on Pod "web": the UID in the precondition (other) does not match the )"
      "UID in record (" +
          at(pod, "metadata.uid") + "). The object might have been deleted and then recreated");
  options = {};
  options.preconditions.resource_version = "1";
  EXPECT_EQ(
      message(remove(pods(), "default", "web", options)),
      R"(Operation cannot be fulfilled on Pod "web": the ResourceVersion in the precondition (1) does not )"
      "match the ResourceVersion in record (" +
          version(pod) + "). The object might have been modified");
}

TEST_F(DeletionTest, ForegroundDeletionWaitsForTheCollector) {
  api::DeleteOptions options;
  options.propagation_policy = "Foreground";
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"alone"}})"));
  ASSERT_TRUE(remove(nodes(), "", "alone", options));
  EXPECT_EQ(reason(get(nodes(), "", "alone")), Reason::NotFound) << "nobody is left to wait for";

  const auto owner = create(nodes(), "", R"({"metadata":{"name":"n1"}})");
  ASSERT_TRUE(
      create_pod("dependent", "",
                 R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":")" +
                     at(owner, "metadata.uid") + "\"}]"));
  const auto node = remove(nodes(), "", "n1", options);
  EXPECT_EQ(at(node, "metadata.finalizers"), R"(["foregroundDeletion"])") << message(node);
  options.propagation_policy = "Sideways";
  EXPECT_EQ(
      message(remove(nodes(), "", "n1", options)),
      R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": )"
      R"(supported values: "Foreground", "Background", "Orphan", "nil")");
}

TEST_F(DeletionTest, ALaterPolicyReplacesAnEarlierOne) {
  const auto owner = create(nodes(), "", R"({"metadata":{"name":"n1"}})");
  ASSERT_TRUE(
      create_pod("dependent", "",
                 R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":")" +
                     at(owner, "metadata.uid") + "\"}]"));
  const auto finalizers_after = [&](std::string policy) {
    api::DeleteOptions options;
    options.propagation_policy = std::move(policy);
    return at(remove(nodes(), "", "n1", options), "metadata.finalizers");
  };
  EXPECT_EQ(finalizers_after("Foreground"), R"(["foregroundDeletion"])");
  EXPECT_EQ(finalizers_after("Orphan"), R"(["orphan"])");
  EXPECT_EQ(finalizers_after(""), R"(["orphan"])") << "who says nothing changes nothing";
  EXPECT_EQ(finalizers_after("Background"), "");
  EXPECT_EQ(reason(get(nodes(), "", "n1")), Reason::NotFound);
}

// For old times' sake, as upstream. Those of most kinds go.
TEST_F(DeletionTest, TheDependentsOfAJobStayIfNothingIsSaid) {
  const auto create_dependent = [&](std::string_view name, std::string_view owner,
                                    const Result<Answer>& of) {
    return create_pod(
        name, "",
        fmt::format(R"("ownerReferences":[{{{},"uid":"{}"}}])", owner, at(of, "metadata.uid")));
  };
  const api::Kind& jobs = *api::find_kind("batch", "Job");
  const auto job = create(jobs, "default", R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_TRUE(create_dependent("a", R"("apiVersion":"batch/v1","kind":"Job","name":"j")", job));
  const auto leaving = remove(jobs, "default", "j");
  EXPECT_EQ(at(leaving, "metadata.finalizers"), R"(["orphan"])") << message(leaving);

  const auto node = create(nodes(), "", R"({"metadata":{"name":"n1"}})");
  ASSERT_TRUE(create_dependent("b", R"("apiVersion":"v1","kind":"Node","name":"n1")", node));
  ASSERT_TRUE(remove(nodes(), "", "n1"));
  EXPECT_EQ(reason(get(nodes(), "", "n1")), Reason::NotFound);
}

TEST_F(DeletionTest, DryRunDeletesNothing) {
  ASSERT_TRUE(create_pod("web"));
  Request dry = request(Verb::Delete, pods(), "default", "web");
  dry.dry_run = true;
  EXPECT_TRUE(send(dry));
  EXPECT_TRUE(get(pods(), "default", "web"));
}

TEST_F(DeletionTest, CollectionsAreDeletedBySelector) {
  ASSERT_TRUE(create_pod("a", "", R"("labels":{"app":"web"})"));
  ASSERT_TRUE(create_pod("b", "", R"("labels":{"app":"web"})"));
  ASSERT_TRUE(create_pod("c"));
  Request all = request(Verb::DeleteCollection, pods(), "default");
  all.list.label_selector = "app=web";
  const auto gone = send(all);
  EXPECT_EQ(names(gone), "a b");
  EXPECT_EQ(items(gone).revision, store_->revision());
  EXPECT_EQ(names(list(pods(), "default")), "c");
}

TEST_F(DeletionTest, ANamespaceTakesItsContentAlong) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create(pods(), "team", pod_json("web")));
  ASSERT_TRUE(create(api::kinds::lease(), "team", R"({"metadata":{"name":"l"}})"));
  const auto ns = remove(namespaces(), "", "team");
  EXPECT_EQ(at(ns, "status.phase"), "Terminating") << message(ns);
  EXPECT_EQ(reason(get(namespaces(), "", "team")), Reason::NotFound);
  EXPECT_EQ(reason(get(pods(), "team", "web")), Reason::NotFound);
  EXPECT_EQ(reason(get(api::kinds::lease(), "team", "l")), Reason::NotFound);
  EXPECT_EQ(names(list(namespaces(), "")), "default kube-node-lease kube-public kube-system");
}

TEST_F(DeletionTest, ANamespaceWaitsForWhatIsHeld) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
    ASSERT_TRUE(
        create(pods(), "team", pod_json("web", "", R"("finalizers":["example.com/hold"])")));
    ASSERT_TRUE(remove(namespaces(), "", "team"));
    EXPECT_EQ(at(get(namespaces(), "", "team"), "status.phase"), "Terminating");
    ASSERT_TRUE(merge(pods(), "team", "web", R"({"metadata":{"finalizers":null}})"));
    EXPECT_EQ(reason(get(namespaces(), "", "team")), Reason::NotFound);
  }
}

TEST_F(DeletionTest, ANamespaceWaitsForTheFinalizersOfOthers) {
  ASSERT_TRUE(create(namespaces(), "",
                     R"({"metadata":{"name":"team"},"spec":{"finalizers":["example.com/x"]}})"));
  ASSERT_TRUE(remove(namespaces(), "", "team"));
  const auto ns = get(namespaces(), "", "team");
  EXPECT_EQ(at(ns, "status.phase"), "Terminating");
  EXPECT_EQ(at(ns, "spec.finalizers"), R"(["example.com/x"])");
}

TEST_F(DeletionTest, EvictionDeletesAndSaysWhy) {
  run_pod("web");
  Request eviction = request(Verb::Create, pods(), "default", "web");
  eviction.subresource = "eviction";
  const auto evicted = send_body(
      eviction, R"({"metadata":{"name":"web"},"deleteOptions":{"gracePeriodSeconds":7}})");
  ASSERT_TRUE(evicted) << message(evicted);
  EXPECT_EQ(std::get<api::StatusAnswer>(evicted->what).code, 201);
  const auto pod = get(pods(), "default", "web");
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "7");
  EXPECT_NE(at(pod, "status.conditions").find("EvictionByEvictionAPI"), std::string::npos);
}

TEST_F(DeletionTest, SubresourcesAreNotDeleted) {
  Request odd = request(Verb::Delete, pods(), "default", "web");
  odd.subresource = "status";
  EXPECT_EQ(reason(send(odd)), Reason::MethodNotAllowed);
}

TEST_F(DeletionTest, ANegativeGracePeriodIsOneSecond) {
  run_pod("web");
  const auto pod = remove(pods(), "default", "web", grace(-7));
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "1") << message(pod);
  EXPECT_EQ(at(pod, "metadata.deletionTimestamp"), "2026-05-01T10:00:01Z");
  run_pod("slow");
  ASSERT_TRUE(remove(pods(), "default", "slow"));
  const auto sooner = remove(pods(), "default", "slow", grace(-7));
  EXPECT_EQ(at(sooner, "metadata.deletionGracePeriodSeconds"), "1") << message(sooner);
}

TEST_F(DeletionTest, TheSameGracePeriodAgainIsNoNews) {
  run_pod("web");
  const auto pod = remove(pods(), "default", "web", grace(20));
  now_ += std::chrono::seconds(5);
  EXPECT_EQ(revision(remove(pods(), "default", "web", grace(20))), revision(pod));
  EXPECT_EQ(revision(remove(pods(), "default", "web")), revision(pod));
  const auto sooner = remove(pods(), "default", "web", grace(19));
  EXPECT_EQ(at(sooner, "metadata.deletionTimestamp"), "2026-05-01T10:00:19Z")
      << "counted from when it was first deleted";
}

TEST_F(DeletionTest, APodWithFinalizersStaysAfterItsGracePeriod) {
  run_pod("web", R"("finalizers":["example.com/hold"])");
  const auto pod = remove(pods(), "default", "web", grace(0));
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "0") << message(pod);
  EXPECT_EQ(at(pod, "metadata.generation"), "2");
  EXPECT_TRUE(get(pods(), "default", "web"));
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"metadata":{"finalizers":null}})"));
  EXPECT_EQ(reason(get(pods(), "default", "web")), Reason::NotFound);
}

TEST_F(DeletionTest, TheOtherFinalizersKeepTheirOrder) {
  const auto owner = create(
      nodes(), "", R"({"metadata":{"name":"n1","finalizers":["b.io/b","orphan","a.io/a"]}})");
  ASSERT_TRUE(
      create_pod("dependent", "",
                 R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":")" +
                     at(owner, "metadata.uid") + "\"}]"));
  const auto said = [&](std::string policy) {
    api::DeleteOptions options;
    options.propagation_policy = std::move(policy);
    return at(remove(nodes(), "", "n1", options), "metadata.finalizers");
  };
  EXPECT_EQ(said("Foreground"), R"(["b.io/b","a.io/a","foregroundDeletion"])");
  EXPECT_EQ(said("Background"), R"(["b.io/b","a.io/a"])");
}

TEST_F(DeletionTest, ANamespaceIsEmptiedOfObjectsWhateverTheyOwn) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"other"}})"));
  const api::Kind& jobs = *api::find_kind("batch", "Job");
  const auto job = create(jobs, "team", R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_TRUE(create(
      pods(), "team",
      pod_json(
          "p", "",
          fmt::format(R"("ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"j",)"
                      R"("uid":"{}"}}])",
                      at(job, "metadata.uid")))));
  ASSERT_TRUE(create(pods(), "other", pod_json("p")));
  ASSERT_TRUE(remove(namespaces(), "", "team"));
  EXPECT_EQ(reason(get(namespaces(), "", "team")), Reason::NotFound)
      << "nothing waits for its dependents";
  EXPECT_EQ(names(list(pods(), "")), "p");
}

}  // namespace
}  // namespace muster::server
