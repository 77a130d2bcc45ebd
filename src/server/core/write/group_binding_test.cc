#include <fmt/format.h>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

constexpr std::string_view kReference = R"("workloadRef":{"workloadName":"w","templateName":"t"})";

class GroupBindingTest : public CoreTest {
 protected:
  GroupBindingTest() {
    for (const char* name : {"n1", "n2"})
      EXPECT_TRUE(create(nodes(), "", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name)));
  }

  void create_group(std::string_view name, std::string_view parent = {}) {
    const std::string member =
        parent.empty()
            ? ""
            : fmt::format(R"("parentCompositePodGroupName":"{}",{},)", parent, kReference);
    const auto made = create(
        api::kinds::pod_group(), "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{{}"schedulingPolicy":{{"gang":{{"minCount":2}}}}}}}})",
            name, member));
    ASSERT_TRUE(made) << message(made);
  }
  void create_composite(std::string_view name) {
    const auto made = create(
        api::kinds::composite_pod_group(), "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{{},"schedulingPolicy":{{"basic":{{}}}}}}}})",
            name, kReference));
    ASSERT_TRUE(made) << message(made);
  }
  void create_member(std::string_view name, std::string_view group,
                     std::string_view spec_members = {}, std::string_view meta_members = {}) {
    std::string spec = fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}})", group);
    if (!spec_members.empty()) spec.append(",").append(spec_members);
    const auto made = create_pod(name, spec, meta_members);
    ASSERT_TRUE(made) << message(made);
  }
  // {"name":"a","uid":…,"nodeName":"n1"}
  std::string on(std::string_view pod, std::string_view node, std::string_view uid = {}) {
    return fmt::format(R"({{"name":"{}","uid":"{}","nodeName":"{}"}})", pod,
                       uid.empty() ? at(get(pods(), "default", pod), "metadata.uid") : uid, node);
  }
  static std::string true_for(std::string_view kind, std::string_view name,
                              std::string_view reason = "Scheduled") {
    return fmt::format(
        R"({{"kind":"{0}","name":"{1}","condition":{{"type":"{0}InitiallyScheduled","status":"True","reason":"{2}"}}}})",
        kind, name, reason);
  }

  struct Body {
    std::string pods = {};
    std::string nominations = {};
    std::string conditions = {};
    std::string root = R"({"kind":"PodGroup","name":"train"})";
    bool dry_run = false;
  };
  Result<Answer> post(const Body& body) {
    Request out = request(Verb::Create, api::kinds::group_binding(), "default");
    out.dry_run = body.dry_run;
    return send_body(
        std::move(out),
        fmt::format(R"({{"spec":{{"root":{},"pods":[{}],"nominations":[{}],"conditions":[{}]}}}})",
                    body.root, body.pods, body.nominations, body.conditions));
  }
  static const api::Json& document(const Result<Answer>& answer) {
    static const api::Json kNone;
    EXPECT_TRUE(answer) << message(answer);
    return answer ? std::get<api::DocumentAnswer>(answer->what).document : kNone;
  }
  static std::string status(const Result<Answer>& answer) {
    const api::Json* status = api::find(document(answer), "status");
    return status == nullptr ? "" : api::to_text(*status);
  }
  // "type field: message" of every cause.
  static std::vector<std::string> culprits(const Result<Answer>& answer) {
    std::vector<std::string> out;
    if (answer) return {"accepted"};
    EXPECT_EQ(answer.error().reason, Reason::Conflict) << message(answer);
    for (const Cause& cause : answer.error().causes)
      out.push_back(cause.type + " " + cause.field + ": " + cause.message);
    return out;
  }
  std::string node_of(std::string_view pod) {
    return at(get(pods(), "default", pod), "spec.nodeName");
  }
};

using Culprits = std::vector<std::string>;

TEST_F(GroupBindingTest, BindsNominatesAndSaysSoInOneBlock) {
  create_composite("root");
  create_group("train", "root");
  for (const char* pod : {"a", "b", "c"}) create_member(pod, "train");
  const auto watcher = watch(pods(), {.version = std::to_string(store_->revision().value)});
  const api::Revision before = store_->revision();

  const auto answer = post(
      {.pods = on("a", "n1") + "," + on("b", "n2"),
       .nominations = on("c", "n2"),
       .conditions = true_for("PodGroup", "train") + "," + true_for("CompositePodGroup", "root"),
       .root = R"({"kind":"CompositePodGroup","name":"root"})"});
  EXPECT_EQ(std::get<api::DocumentAnswer>(answer->what).code, 201);
  EXPECT_EQ(api::find_string(document(answer), "kind"), "GroupBinding");
  EXPECT_EQ(api::find_string(document(answer), "apiVersion"), "scheduling.muster.dev/v1alpha1");
  EXPECT_EQ(api::find_string(*api::find(document(answer), "metadata"), "name"), "root");
  EXPECT_EQ(store_->revision().value, before.value + 5) << "one revision per object, no gap";
  EXPECT_EQ(status(answer),
            fmt::format(R"({{"bound":2,"resourceVersion":"{}"}})", before.value + 5));

  EXPECT_EQ(node_of("a"), "n1");
  EXPECT_EQ(node_of("b"), "n2");
  const auto nominated = get(pods(), "default", "c");
  EXPECT_EQ(at(nominated, "spec.nodeName"), "");
  EXPECT_EQ(at(nominated, "status.nominatedNodeName"), "n2");
  EXPECT_EQ(
      at(get(pods(), "default", "a"), "status.conditions"),
      R"([{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-05-01T10:00:00Z"}])");
  EXPECT_EQ(
      at(get(api::kinds::pod_group(), "default", "train"), "status.conditions"),
      R"([{"type":"PodGroupInitiallyScheduled","status":"True","lastTransitionTime":"2026-05-01T10:00:00Z","reason":"Scheduled","message":""}])");
  EXPECT_EQ(
      at(get(api::kinds::composite_pod_group(), "default", "root"), "status.conditions"),
      R"([{"type":"CompositePodGroupInitiallyScheduled","status":"True","lastTransitionTime":"2026-05-01T10:00:00Z","reason":"Scheduled","message":""}])");
  EXPECT_EQ(seen_by(*watcher), "~a ~b ~c");
}

TEST_F(GroupBindingTest, IsNoObjectAfterwards) {
  create_group("train");
  create_member("a", "train");
  ASSERT_TRUE(post({.pods = on("a", "n1")}));
  EXPECT_EQ(names(list(api::kinds::group_binding(), "default")), "");
  EXPECT_EQ(reason(remove(api::kinds::group_binding(), "default", "train")),
            Reason::MethodNotAllowed);
}

TEST_F(GroupBindingTest, OneConflictRefusesAllAndNamesEveryCulprit) {
  create_group("train");
  create_group("other");
  for (const char* pod : {"good", "bound", "replaced", "homeless", "changed"})
    create_member(pod, "train");
  create_member("stranger", "other");
  create_member("gated", "train", R"("schedulingGates":[{"name":"example.com/wait"}])");
  create_member("dying", "train", "", R"("finalizers":["example.com/hold"])");
  ASSERT_TRUE(create_pod("lone"));
  ASSERT_TRUE(remove(pods(), "default", "dying"));
  ASSERT_TRUE(bind("bound", "n2"));
  const std::string uid = at(get(pods(), "default", "replaced"), "metadata.uid");
  const std::string changed = on("changed", "n1");
  const api::Revision before = store_->revision();

  const auto answer = post(
      {.pods = on("good", "n1") + "," + on("bound", "n1") + "," + on("replaced", "n1", "old") +
               "," + on("homeless", "n9") + "," + on("stranger", "n1") + "," + on("gated", "n1") +
               "," + on("dying", "n1") + "," + on("gone", "n1", "u") + "," + on("lone", "n1") +
               "," + changed.substr(0, changed.size() - 1) + R"(,"resourceVersion":"1"})",
       .conditions = true_for("PodGroup", "other") + "," + true_for("PodGroup", "none")});
  EXPECT_EQ(
      culprits(answer),
      (Culprits{
          R"(AlreadyBound spec.pods[1]: pod bound is already assigned to node "n2")",
          "UIDMismatch spec.pods[2]: pod replaced has UID " + uid + ", not old",
          R"(NodeNotFound spec.pods[3]: node "n9" for pod homeless does not exist)",
          "NotAMember spec.pods[4]: pod stranger does not belong to the tree of the root",
          "Gated spec.pods[5]: pod gated has non-empty .spec.schedulingGates",
          "Terminating spec.pods[6]: pod dying is being deleted, cannot be assigned to a host",
          "NotFound spec.pods[7]: pod gone does not exist",
          "NotAMember spec.pods[8]: pod lone does not belong to the tree of the root",
          "Modified spec.pods[9]: pod changed has resourceVersion " +
              version(get(pods(), "default", "changed")) + ", not 1",
          R"(NotAMember spec.conditions[0]: PodGroup "other" does not belong to the tree of the root)",
          R"(NotFound spec.conditions[1]: PodGroup "none" does not exist)",
      }));
  EXPECT_EQ(message(answer),
            R"(Operation cannot be fulfilled on groupbindings.scheduling.muster.dev "train": )"
            R"(pod bound is already assigned to node "n2" (and 10 more))");
  EXPECT_EQ(store_->revision(), before);
  EXPECT_EQ(node_of("good"), "");
}

TEST_F(GroupBindingTest, TheRootMustBeTheSameGroup) {
  create_group("train");
  create_member("a", "train");
  const std::string uid = at(get(api::kinds::pod_group(), "default", "train"), "metadata.uid");
  EXPECT_EQ(culprits(post({.pods = on("a", "n1"),
                           .root = R"({"kind":"PodGroup","name":"train","uid":"old"})"})),
            Culprits{"UIDMismatch spec.root: PodGroup \"train\" has UID " + uid + ", not old"});
  EXPECT_EQ(culprits(post({.pods = on("a", "n1"), .root = R"({"kind":"PodGroup","name":"gone"})"})),
            Culprits{R"(NotFound spec.root: PodGroup "gone" does not exist)"});
  EXPECT_TRUE(
      post({.pods = on("a", "n1"),
            .root = fmt::format(R"({{"kind":"PodGroup","name":"train","uid":"{}"}})", uid)}));
}

TEST_F(GroupBindingTest, TheSameAgainChangesNothing) {
  create_group("train");
  for (const char* pod : {"a", "b", "c"}) create_member(pod, "train");
  const Body body{.pods = on("a", "n1") + "," + on("b", "n2"),
                  .conditions = true_for("PodGroup", "train")};
  const auto first = post(body);
  ASSERT_TRUE(first) << message(first);
  const api::Revision before = store_->revision();
  now_ += std::chrono::minutes{1};
  const auto second = post(body);
  EXPECT_EQ(status(second), status(first));
  EXPECT_EQ(store_->revision(), before);

  // With a pod more, only what is new is written.
  const auto third = post({.pods = body.pods + "," + on("c", "n1")});
  EXPECT_EQ(status(third),
            fmt::format(R"({{"bound":3,"resourceVersion":"{}"}})", before.value + 1));
}

TEST_F(GroupBindingTest, ATransitionKeepsItsTimeUntilTheStatusChanges) {
  create_group("train");
  create_member("a", "train");
  ASSERT_TRUE(post({.conditions = true_for("PodGroup", "train")}));
  now_ += std::chrono::minutes{1};
  ASSERT_TRUE(post({.conditions = true_for("PodGroup", "train", "Again")}));
  EXPECT_EQ(
      at(get(api::kinds::pod_group(), "default", "train"), "status.conditions"),
      R"([{"type":"PodGroupInitiallyScheduled","status":"True","lastTransitionTime":"2026-05-01T10:00:00Z","reason":"Again","message":""}])");
}

TEST_F(GroupBindingTest, ADryRunSaysWhatWouldBe) {
  create_group("train");
  create_member("a", "train");
  const api::Revision before = store_->revision();
  EXPECT_EQ(status(post({.pods = on("a", "n1"), .dry_run = true})), R"({"bound":1})");
  EXPECT_EQ(store_->revision(), before);
  EXPECT_EQ(culprits(post({.pods = on("a", "n9"), .dry_run = true})),
            Culprits{R"(NodeNotFound spec.pods[0]: node "n9" for pod a does not exist)"});
}

TEST_F(GroupBindingTest, WrongFieldsAreInvalid) {
  const auto answer = post({.pods = R"({"name":"a","nodeName":"n1"})"});
  EXPECT_EQ(reason(answer), Reason::Invalid);
  EXPECT_EQ(
      message(answer),
      R"(GroupBinding.scheduling.muster.dev "train" is invalid: spec.pods[0].uid: Required value)");
}

// Requests of one batch see each other although nothing of it is durable yet.
TEST_F(GroupBindingTest, ADeletionInTheSameBatchIsSeen) {
  create_group("train");
  for (const char* pod : {"a", "b"}) create_member(pod, "train");
  const std::string pods_of_it = on("a", "n1") + "," + on("b", "n1");
  registry_.submit(request(Verb::Delete, pods(), "default", "b"), now_, nullptr);
  EXPECT_EQ(culprits(post({.pods = pods_of_it})),
            Culprits{"NotFound spec.pods[1]: pod b does not exist"});
}

TEST_F(GroupBindingTest, SeveralConditionsOfOneGroupAreOneWrite) {
  create_group("train");
  const auto other = [](std::string_view status, std::string_view more = "") {
    return fmt::format(
        R"({{"kind":"PodGroup","name":"train","condition":{{"type":"DisruptionTarget",)"
        R"("status":"{}","reason":"R"{}}}}})",
        status, more);
  };
  const api::Revision before = store_->revision();
  const auto first = post({.conditions = true_for("PodGroup", "train") + "," + other("False")});
  EXPECT_EQ(status(first),
            fmt::format(R"({{"bound":0,"resourceVersion":"{}"}})", before.value + 1));
  now_ += std::chrono::minutes{1};
  ASSERT_TRUE(post({.conditions = other("True", R"(,"message":"m","observedGeneration":1)")}));
  EXPECT_EQ(
      at(get(api::kinds::pod_group(), "default", "train"), "status.conditions"),
      R"([{"type":"PodGroupInitiallyScheduled","status":"True","lastTransitionTime":"2026-05-01T10:00:00Z","reason":"Scheduled","message":""},)"
      R"({"type":"DisruptionTarget","status":"True","observedGeneration":1,"lastTransitionTime":"2026-05-01T10:01:00Z","reason":"R","message":"m"}])");
}

TEST_F(GroupBindingTest, ANominationThatStandsIsNotWrittenAgain) {
  create_group("train");
  for (const char* pod : {"a", "b"}) create_member(pod, "train");
  ASSERT_TRUE(post({.nominations = on("a", "n1")}));
  const api::Revision before = store_->revision();
  const auto again = post({.nominations = on("a", "n1")});
  EXPECT_EQ(status(again), fmt::format(R"({{"bound":0,"resourceVersion":"{}"}})", before.value));
  EXPECT_EQ(store_->revision(), before);
  ASSERT_TRUE(post({.nominations = on("a", "n2")}));
  EXPECT_EQ(at(get(pods(), "default", "a"), "status.nominatedNodeName"), "n2");
  EXPECT_EQ(culprits(post({.nominations = on("b", "n9")})),
            Culprits{R"(NodeNotFound spec.nominations[0]: node "n9" for pod b does not exist)"});
  ASSERT_TRUE(bind("b", "n1"));
  EXPECT_EQ(culprits(post({.nominations = on("b", "n1")})),
            Culprits{R"(AlreadyBound spec.nominations[0]: pod b is already assigned to node "n1")"})
      << "where it is already, nobody has to keep a node for it";
}

TEST_F(GroupBindingTest, AConditionMayInsistOnItsGroup) {
  create_composite("root");
  create_group("train", "root");
  const std::string uid = at(get(api::kinds::pod_group(), "default", "train"), "metadata.uid");
  const auto with_uid = [](std::string_view of) {
    return fmt::format(R"({{"kind":"PodGroup","name":"train","uid":"{}","condition":{{)"
                       R"("type":"DisruptionTarget","status":"True","reason":"R"}}}})",
                       of);
  };
  EXPECT_EQ(
      culprits(post({.conditions = with_uid("old"),
                     .root = R"({"kind":"CompositePodGroup","name":"root"})"})),
      Culprits{"UIDMismatch spec.conditions[0]: PodGroup \"train\" has UID " + uid + ", not old"});
  EXPECT_TRUE(
      post({.conditions = with_uid(uid), .root = R"({"kind":"CompositePodGroup","name":"root"})"}));
}

TEST_F(GroupBindingTest, TheRootMayStandHighAboveButNotBeside) {
  create_composite("top");
  std::string parent = "top";
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("c{}", i);
    const auto made =
        create(api::kinds::composite_pod_group(), "default",
               fmt::format(
                   R"({{"metadata":{{"name":"{}"}},"spec":{{"parentCompositePodGroupName":"{}",{},)"
                   R"("schedulingPolicy":{{"basic":{{}}}}}}}})",
                   name, parent, kReference));
    ASSERT_TRUE(made) << message(made);
    parent = name;
  }
  create_group("train", parent);
  create_member("a", "train");
  const auto bind_below = [&](std::string_view root) {
    return culprits(
        post({.pods = on("a", "n1"),
              .root = fmt::format(R"({{"kind":"CompositePodGroup","name":"{}"}})", root),
              .dry_run = true}));
  };
  EXPECT_EQ(bind_below("top"), Culprits{"accepted"});
  EXPECT_EQ(bind_below("c1"), Culprits{"accepted"});
  create_composite("beside");
  EXPECT_EQ(bind_below("beside"),
            Culprits{"NotAMember spec.pods[0]: pod a does not belong to the tree of the root"});
}

TEST_F(GroupBindingTest, ItMayHaveANameOfItsOwn) {
  create_group("train");
  Request out = request(Verb::Create, api::kinds::group_binding(), "default");
  const auto answer =
      send_body(std::move(out), R"({"metadata":{"name":"mine"},"spec":{"root":{"kind":"PodGroup",)"
                                R"("name":"train"},"conditions":[)" +
                                    true_for("PodGroup", "train") + R"(]},"status":{"bound":9}})");
  ASSERT_TRUE(answer) << message(answer);
  EXPECT_EQ(api::find_string(*api::find(document(answer), "metadata"), "name"), "mine");
  EXPECT_EQ(status(answer).substr(0, 10), R"({"bound":0)");
  Request away = request(Verb::Create, api::kinds::group_binding(), "default");
  EXPECT_EQ(
      message(send_body(std::move(away), R"({"metadata":{"name":"x","namespace":"y"}})")),
      "the namespace of the provided object does not match the namespace sent on the request");
}

// As deep as anybody may ask; and a circle has no end.
TEST_F(GroupBindingTest, TheRootIsLookedForSixteenLevelsUp) {
  const auto create_below = [&](std::string_view name, std::string_view parent) {
    const auto made =
        create(api::kinds::composite_pod_group(), "default",
               fmt::format(
                   R"({{"metadata":{{"name":"{}"}},"spec":{{"parentCompositePodGroupName":"{}",{},)"
                   R"("schedulingPolicy":{{"basic":{{}}}}}}}})",
                   name, parent, kReference));
    ASSERT_TRUE(made) << message(made);
  };
  create_composite("c17");
  for (int i = 16; i > 0; --i) create_below(fmt::format("c{}", i), fmt::format("c{}", i + 1));
  create_group("train", "c1");
  create_member("a", "train");
  const auto bind_below = [&](std::string_view root) {
    return culprits(
        post({.pods = on("a", "n1"),
              .root = fmt::format(R"({{"kind":"CompositePodGroup","name":"{}"}})", root),
              .dry_run = true}));
  };
  EXPECT_EQ(bind_below("c16"), Culprits{"accepted"});
  const Culprits none{"NotAMember spec.pods[0]: pod a does not belong to the tree of the root"};
  EXPECT_EQ(bind_below("c17"), none);

  create_below("round", "about");
  create_below("about", "round");
  create_group("lost", "round");
  create_member("b", "lost");
  EXPECT_EQ(culprits(post(
                {.pods = on("b", "n1"), .root = R"({"kind":"CompositePodGroup","name":"c1"})"})),
            Culprits{"NotAMember spec.pods[0]: pod b does not belong to the tree of the root"});
}

}  // namespace
}  // namespace muster::server
