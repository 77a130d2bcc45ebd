#include <fmt/format.h>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

using UpdateTest = CoreTest;

std::string with(std::string json, std::string_view from, std::string_view to) {
  const std::size_t found = json.find(from);
  return found == std::string::npos ? json : json.replace(found, from.size(), to);
}

TEST_F(UpdateTest, AStaleDocumentIsRefused) {
  const auto first = create_pod("web", "", R"("labels":{"a":"1"})");
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"2"}}})"));
  const auto stale = update(pods(), "default", "web", seen(first));
  EXPECT_EQ(reason(stale), Reason::Conflict);
  EXPECT_EQ(
      message(stale),
      R"(Operation cannot be fulfilled on pods "web": the object has been modified; please apply your )"
      R"(changes to the latest version and try again)");
}

TEST_F(UpdateTest, WithoutARevisionTheNewestIsReplaced) {
  ASSERT_TRUE(create_pod("web"));
  const auto pod =
      update(pods(), "default", "web",
             with(seen(get(pods(), "default", "web")),
                  R"("resourceVersion":")" + version(get(pods(), "default", "web")) + "\",",
                  R"("labels":{"a":"1"},)"));
  EXPECT_EQ(at(pod, "metadata.labels.a"), "1") << message(pod);
}

TEST_F(UpdateTest, AStatusHasALimitOfItsOwn) {
  const auto texts = [](int count, std::string_view form) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ",", fmt::format(fmt::runtime(form), i));
    return out;
  };
  const api::Kind& nodes = api::kinds::node();
  ASSERT_TRUE(create(nodes, "",
                     fmt::format(R"({{"metadata":{{"name":"n","annotations":{{{}}}}}}})",
                                 texts(19'900, R"("k{}":"")"))));
  const auto report = [&](int images) {
    return merge(
        nodes, "", "n",
        fmt::format(R"({{"status":{{"images":[{{"names":[{}]}}]}}}})", texts(images, R"("i{}")")),
        "status");
  };
  const auto kept = report(9'900);
  EXPECT_TRUE(kept.has_value()) << message(kept);
  EXPECT_EQ(message(report(10'000)),
            "the object's status has more than 10000 fields and list items: shorten it");
  EXPECT_TRUE(report(9'000).has_value());
}

TEST_F(UpdateTest, LeasesMustNameARevision) {
  const api::Kind& leases = api::kinds::lease();
  ASSERT_TRUE(
      create(leases, "default", R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})"));
  const auto lease = update(leases, "default", "l",
                            R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"you"}})");
  EXPECT_EQ(reason(lease), Reason::Invalid);
  EXPECT_EQ(
      message(lease),
      R"(leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: )"
      R"(must be specified for an update)");
}

TEST_F(UpdateTest, PutCreatesALeaseButNoPod) {
  const auto lease = update(api::kinds::lease(), "default", "l",
                            R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})");
  ASSERT_TRUE(lease) << message(lease);
  EXPECT_TRUE(std::get<api::ObjectAnswer>(lease->what).created);
  EXPECT_EQ(message(update(pods(), "default", "web", pod_json("web"))), R"(pods "web" not found)");
}

TEST_F(UpdateTest, NothingNewWritesNothing) {
  const auto pod = create_pod("web");
  const api::Revision before = store_->revision();
  const auto again = update(pods(), "default", "web", seen(pod));
  EXPECT_EQ(revision(again), revision(pod)) << message(again);
  EXPECT_EQ(revision(merge(pods(), "default", "web", "{}")), revision(pod));
  EXPECT_EQ(store_->revision(), before);
}

TEST_F(UpdateTest, NamesMustMatch) {
  ASSERT_TRUE(create_pod("web"));
  EXPECT_EQ(message(update(pods(), "default", "web", pod_json("api"))),
            "the name of the object (api) does not match the name on the URL (web)");
  EXPECT_EQ(message(update(pods(), "default", "web", R"({"spec":{}})")),
            "the name of the object (web based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(message(merge(pods(), "default", "web", R"({"metadata":{"name":"api"}})")),
            "the name of the object (api) does not match the name on the URL (web)");
  EXPECT_EQ(
      message(merge(pods(), "default", "web", R"({"metadata":{"namespace":"x"}})")),
      "the namespace of the object (x) does not match the namespace on the request (default)");
}

TEST_F(UpdateTest, AForeignUidIsRefused) {
  const auto pod = create_pod("web");
  const std::string uid = at(pod, "metadata.uid");
  EXPECT_EQ(
      message(update(pods(), "default", "web", with(seen(pod), uid, "other"))),
      R"(Operation cannot be fulfilled on pods "web": Precondition failed: UID in precondition: other, )"
      "UID in object meta: " +
          uid);
  EXPECT_EQ(message(merge(pods(), "default", "web", R"({"metadata":{"uid":"other"}})")),
            R"(Pod "web" is invalid: metadata.uid: Invalid value: "other": field is immutable)");
}

TEST_F(UpdateTest, PatchesOfTheNewestNeverConflictButMayInsist) {
  const auto pod = create_pod("web");
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"1"}}})"));
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"metadata":{"labels":{"b":"1"}}})"));
  EXPECT_EQ(reason(merge(pods(), "default", "web",
                         R"({"metadata":{"resourceVersion":")" + version(pod) + R"("}})")),
            Reason::Conflict);
}

TEST_F(UpdateTest, GenerationCountsChangesOfSpecOnly) {
  ASSERT_TRUE(create_pod("web"));
  EXPECT_EQ(at(merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"1"}}})"),
               "metadata.generation"),
            "1");
  EXPECT_EQ(at(merge(pods(), "default", "web", R"({"status":{"phase":"Running"}})", "status"),
               "metadata.generation"),
            "1");
  const auto pod = patch(pods(), "default", "web", PatchType::StrategicMerge,
                         R"({"spec":{"containers":[{"name":"c","image":"other"}]}})");
  EXPECT_EQ(at(pod, "metadata.generation"), "2") << message(pod);
}

TEST_F(UpdateTest, AReplacedFileWithoutDefaultsIsNoChangeOfSpec) {
  ASSERT_TRUE(create_pod("web", R"("automountServiceAccountToken":false)"));
  const auto pod = update(pods(), "default", "web", pod_json("web", R"("priority":0,
      "automountServiceAccountToken":false,"serviceAccountName":"default","tolerations":[
      {"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
      {"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}])"));
  EXPECT_EQ(at(pod, "metadata.generation"), "1") << message(pod);
}

TEST_F(UpdateTest, TheMainEndpointLeavesStatusAlone) {
  ASSERT_TRUE(create_pod("web"));
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"status":{"phase":"Running"}})", "status"));
  const auto pod = merge(pods(), "default", "web",
                         R"({"metadata":{"labels":{"a":"1"}},"status":{"phase":"Failed"}})");
  EXPECT_EQ(at(pod, "status.phase"), "Running");
  EXPECT_EQ(at(pod, "metadata.labels.a"), "1");
}

TEST_F(UpdateTest, TheStatusEndpointTakesStatusAndLabels) {
  ASSERT_TRUE(create_pod(
      "web", "", R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}])"));
  const auto pod =
      merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"1"},"ownerReferences":null},
      "spec":{"schedulerName":"mine"},"status":{"phase":"Running","qosClass":null}})",
            "status");
  EXPECT_EQ(at(pod, "status.phase"), "Running") << message(pod);
  EXPECT_EQ(at(pod, "status.qosClass"), "BestEffort");
  EXPECT_EQ(at(pod, "spec.schedulerName"), "default-scheduler");
  EXPECT_EQ(at(pod, "metadata.labels.a"), "1");
  EXPECT_NE(at(pod, "metadata.ownerReferences"), "");
}

TEST_F(UpdateTest, WhatTheSchedulerPatchesIntoStatus) {
  ASSERT_TRUE(create_pod("web"));
  const auto pod = patch(pods(), "default", "web", PatchType::StrategicMerge, R"({"status":{
      "$setElementOrder/conditions":[{"type":"PodScheduled"}],
      "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/0 nodes"}],
      "nominatedNodeName":"n1"}})",
                         "status");
  EXPECT_EQ(at(pod, "status.nominatedNodeName"), "n1") << message(pod);
  EXPECT_EQ(at(pod, "status.phase"), "Pending");
  EXPECT_NE(at(pod, "status.conditions").find("Unschedulable"), std::string::npos);
}

TEST_F(UpdateTest, PatchesThatBreakTheObjectAreInvalid) {
  ASSERT_TRUE(create_pod("web"));
  const auto pod = merge(pods(), "default", "web", R"({"spec":{"containers":7}})");
  EXPECT_EQ(reason(pod), Reason::Invalid);
  EXPECT_TRUE(message(pod).starts_with(
      R"( "" is invalid: patch: Invalid value: "{\"spec\":{\"containers\":7}}": json: cannot unmarshal)"))
      << message(pod);
  EXPECT_EQ(message(patch(pods(), "default", "web", PatchType::JsonPatch,
                          R"([{"op":"remove","path":"/nothing"}])")),
            "the server rejected our request due to an error in our request");
  EXPECT_EQ(reason(patch(pods(), "default", "web", PatchType::JsonPatch, "{}")),
            Reason::BadRequest);
  EXPECT_EQ(reason(merge(pods(), "default", "web", "[]")), Reason::BadRequest);
}

TEST_F(UpdateTest, APatchCannotMoveAnObjectToAnotherKindOrVersion) {
  ASSERT_TRUE(create_pod("web"));
  EXPECT_EQ(message(merge(pods(), "default", "web", R"({"kind":"Node"})")),
            "the API version in the data (v1, Kind=Node) does not match the expected API version "
            "(v1, Kind=Pod)");
  EXPECT_EQ(message(merge(pods(), "default", "web", R"({"apiVersion":"v2"})")),
            "the API version in the data (v2, Kind=Pod) does not match the expected API version "
            "(v1, Kind=Pod)");
}

TEST_F(UpdateTest, UnknownFieldsInPatchesWarnOrFail) {
  ASSERT_TRUE(create_pod("web"));
  const auto pod = merge(pods(), "default", "web", R"({"spec":{"foo":1}})");
  ASSERT_TRUE(pod) << message(pod);
  EXPECT_EQ(pod->warnings, std::vector<std::string>{R"(unknown field "spec.foo")"});
  Request strict = request(Verb::Patch, pods(), "default", "web");
  strict.field_validation = api::FieldValidation::Strict;
  strict.body = api::JsonObject{{"spec", api::JsonObject{{"foo", 1}}}};
  EXPECT_EQ(
      message(send(strict)),
      R"( "" is invalid: patch: Invalid value: "{\"spec\":{\"foo\":1}}": strict decoding error: unknown field "spec.foo")");
}

TEST_F(UpdateTest, DryRunsChangeNothing) {
  const auto before = create_pod("web");
  Request dry = request(Verb::Patch, pods(), "default", "web");
  dry.dry_run = true;
  dry.body = api::parse_json(R"({"metadata":{"labels":{"a":"1"}}})")->value;
  const auto pod = send(dry);
  EXPECT_EQ(at(pod, "metadata.labels.a"), "1") << message(pod);
  EXPECT_EQ(revision(pod), revision(before));
  EXPECT_EQ(seen(get(pods(), "default", "web")), seen(before));
}

TEST_F(UpdateTest, ManagedFieldsAreKeptUntilReset) {
  const std::string managed =
      R"("managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",)"
      R"("time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}])";
  const auto pod = create_pod("web", "", managed);
  ASSERT_TRUE(pod) << message(pod);
  EXPECT_NE(at(pod, "metadata.managedFields"), "");
  const auto kept = update(pods(), "default", "web", with(seen(pod), "," + managed, ""));
  EXPECT_EQ(at(kept, "metadata.managedFields"), at(pod, "metadata.managedFields"));
  const auto reset = merge(pods(), "default", "web", R"({"metadata":{"managedFields":[{}]}})");
  EXPECT_EQ(at(reset, "metadata.managedFields"), "") << message(reset);
}

TEST_F(UpdateTest, MissingObjectsAreNotPatched) {
  const auto pod = merge(pods(), "default", "web", "{}");
  EXPECT_EQ(reason(pod), Reason::NotFound);
  EXPECT_EQ(message(pod), R"(pods "web" not found)");
}

TEST_F(UpdateTest, APutStaysInItsNamespace) {
  ASSERT_TRUE(create_pod("web"));
  EXPECT_EQ(
      message(update(pods(), "default", "web", pod_json("web", "", R"("namespace":"x")"))),
      "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_TRUE(update(pods(), "default", "web",
                     seen(merge(pods(), "default", "web", R"({"metadata":{"namespace":null}})"))));
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n"}})"));
  const auto node = update(nodes(), "", "n", R"({"metadata":{"name":"n","namespace":"x"}})");
  EXPECT_EQ(at(node, "metadata.namespace"), "") << message(node);
}

TEST_F(UpdateTest, WhatOnlyTheServerSaysStaysAsItIs) {
  const auto pod = create_pod("web", "", R"("finalizers":["a.b/c"])");
  ASSERT_TRUE(bind("web", "n1"));
  const auto dying = remove(pods(), "default", "web");
  const auto changed =
      merge(pods(), "default", "web",
            R"({"metadata":{"generation":77,"creationTimestamp":"2001-01-01T00:00:00Z",
      "uid":null,"deletionTimestamp":"2001-01-01T00:00:00Z","labels":{"a":"b"}}})");
  EXPECT_EQ(at(changed, "metadata.labels.a"), "b") << message(changed);
  for (const char* member : {"generation", "creationTimestamp", "uid", "deletionTimestamp",
                             "deletionGracePeriodSeconds"})
    EXPECT_EQ(at(changed, std::string("metadata.") + member),
              at(dying, std::string("metadata.") + member))
        << member;
  const auto kept = merge(pods(), "default", "web",
                          R"({"metadata":{"deletionGracePeriodSeconds":null,"labels":{"a":"c"}}})");
  EXPECT_EQ(at(kept, "metadata.deletionGracePeriodSeconds"), "30") << message(kept);
}

TEST_F(UpdateTest, APutThatCreatesIsAboutNobodyElse) {
  const api::Kind& leases = api::kinds::lease();
  const auto put = [&](std::string_view meta_members) {
    return update(leases, "default", "l",
                  fmt::format(R"({{"metadata":{{"name":"l"{}}},"spec":{{"holderIdentity":"me"}}}})",
                              meta_members));
  };
  EXPECT_EQ(message(put(R"(,"uid":"u")")),
            R"(Operation cannot be fulfilled on leases.coordination.k8s.io "l": Precondition )"
            "failed: UID in precondition: u, UID in object meta: ");
  const auto made = put(R"(,"resourceVersion":"5")");
  EXPECT_TRUE(made) << "there is nothing it could be a version of: " << message(made);
  EXPECT_EQ(reason(put(R"(,"resourceVersion":"x")")), Reason::BadRequest);
  EXPECT_EQ(message(update(pods(), "default", "web", pod_json("web"), "status")),
            R"(pods "web" not found)");
}

TEST_F(UpdateTest, AnEmptyListOfManagedFieldsIsNobodysBusiness) {
  const std::string managed =
      R"("managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",)"
      R"("time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}])";
  const auto pod = create_pod("web", "", managed);
  for (const char* said :
       {R"({"metadata":{"managedFields":[]}})", R"({"metadata":{"managedFields":null}})"})
    EXPECT_EQ(at(merge(pods(), "default", "web", said), "metadata.managedFields"),
              at(pod, "metadata.managedFields"))
        << said;
}

TEST_F(UpdateTest, DuplicateOwnersOfAnUpdateAreDroppedWithAWarning) {
  ASSERT_TRUE(create_pod("web"));
  const auto pod = merge(pods(), "default", "web", R"({"metadata":{"ownerReferences":[
      {"apiVersion":"v1","kind":"Node","name":"n","uid":"u"},
      {"apiVersion":"v1","kind":"Node","name":"n","uid":"v"},
      {"apiVersion":"v1","kind":"Node","name":"n","uid":"u","controller":false},
      {"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]}})");
  ASSERT_TRUE(pod) << message(pod);
  ASSERT_EQ(pod->warnings.size(), 1U);
  EXPECT_EQ(pod->warnings[0],
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner "
            "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
            "requests; duplicate UID(s) observed: u");
  const auto parsed = api::parse_json(at(pod, "metadata.ownerReferences"));
  EXPECT_EQ(parsed->value.get_array().size(), 3U) << "the others differ in something";
}

}  // namespace
}  // namespace muster::server
