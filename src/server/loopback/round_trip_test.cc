#include <set>

#include "api/conversion.h"
#include "api/decode.h"
#include "api/sample.h"
#include "server/core/testing/core_fixture.h"
#include "server/loopback/loopback.h"

// The guard of D10: every member of every kind goes through every way a document can take, and none
// is lost or changed but those the server owns. Validation is off, or random documents would not
// get far.
namespace muster::server {
namespace {

using api::Json;
using api::JsonObject;

// What the server says, whatever a client sends.
const std::set<std::string, std::less<>> kOwnedByServer{"metadata.creationTimestamp",
                                                        "metadata.deletionGracePeriodSeconds",
                                                        "metadata.deletionTimestamp",
                                                        "metadata.generation",
                                                        "metadata.name",
                                                        "metadata.namespace",
                                                        "metadata.resourceVersion",
                                                        "metadata.selfLink",
                                                        "metadata.uid"};

bool is_group(const api::Kind& kind) {
  return &kind == &api::kinds::pod_group() || &kind == &api::kinds::composite_pod_group();
}

// What admission or the create strategy decides for a kind.
std::set<std::string, std::less<>> decided_for(const api::Kind& kind) {
  std::set<std::string, std::less<>> out = kOwnedByServer;
  if (kind.kind == "Pod")
    out.insert({"spec.preemptionPolicy", "spec.priority", "spec.priorityClassName",
                "spec.serviceAccount", "spec.tolerations", "status"});
  if (kind.kind == "Node") out.insert("spec.taints");
  if (kind.kind == "Secret") out.insert({"data", "stringData"});
  if (kind.kind == "Service")
    out.insert({"spec.clusterIP", "spec.clusterIPs", "spec.ports[].targetPort"});
  // The old name of a template's account follows the new one.
  out.insert({"template.spec.serviceAccount", "spec.template.spec.serviceAccount",
              "spec.jobTemplate.spec.template.spec.serviceAccount",
              "spec.replicatedJobs[].template.spec.template.spec.serviceAccount",
              "spec.leaderWorkerTemplate.leaderTemplate.spec.serviceAccount",
              "spec.leaderWorkerTemplate.workerTemplate.spec.serviceAccount"});
  // Written even when empty, and then defaulted.
  if (kind.kind.ends_with("RoleBinding")) out.insert("roleRef.apiGroup");
  for (const std::string job :
       {"spec", "spec.jobTemplate.spec", "spec.replicatedJobs[].template.spec"})
    out.insert(job + ".podFailurePolicy.rules[].onPodConditions[].status");
  if (kind.kind == "LeaderWorkerSet")
    out.insert({"spec.leaderWorkerTemplate.restartPolicy", "spec.rolloutStrategy.type",
                "spec.startupPolicy"});
  if (kind.kind == "JobSet") out.insert("spec.failurePolicy.rules[].name");
  if (kind.kind == "Job")  // the template's labels are completed
    out.insert({"metadata.labels", "spec.selector"});
  if (kind.kind == "Namespace") out.insert({"spec.finalizers", "status"});
  if (is_group(kind))
    out.insert({"metadata.finalizers", "spec.preemptionPolicy", "spec.priority",
                "spec.priorityClassName"});
  return out;
}

// The first member of `sent` that `seen` lacks or has changed; "" if there is none.
std::string lost(const Json& sent, const Json& seen,
                 const std::set<std::string, std::less<>>& owned, const std::string& path = {}) {
  if (owned.contains(path)) return {};
  if (sent.is_object() && seen.is_object()) {
    for (const auto& member : sent.get_object()) {
      const std::string here =
          path.empty() ? std::string(member.key()) : path + "." + std::string(member.key());
      const Json* other = seen.get_object().if_contains(member.key());
      if (owned.contains(here)) continue;
      if (other == nullptr) return here + " is lost: " + api::to_text(member.value());
      if (std::string deeper = lost(member.value(), *other, owned, here); !deeper.empty())
        return deeper;
    }
    return {};
  }
  if (sent.is_array() && seen.is_array() && sent.get_array().size() == seen.get_array().size()) {
    for (std::size_t i = 0; i < sent.get_array().size(); ++i)
      if (std::string deeper = lost(sent.get_array()[i], seen.get_array()[i], owned, path + "[]");
          !deeper.empty())
        return deeper;
    return {};
  }
  return sent == seen ? ""
                      : path + " has changed: " + api::to_text(sent) + " to " + api::to_text(seen);
}

class RoundTripTest : public CoreTest {
 protected:
  // Every gate is on: what is behind one must not be lost either.
  RoundTripTest()
      : CoreTest(store::make_memory_engine(), {}, Registry::Validation::Off,
                 api::Gates().with(api::Gate::DRAWorkloadResourceClaims)) {}

  // A random document as the server would understand it: canonical, without what is written as
  // empty.
  Json sampled(const api::Kind& kind, Entropy& entropy) {
    Json document = api::schema::sample(*kind.message, entropy);
    auto decoded = api::decode(*kind.message, {.value = std::move(document), .duplicates = {}});
    EXPECT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(decoded->unknown.empty());
    Json out = api::parse_json(api::canonical_text(*kind.message, decoded->document)).value().value;
    JsonObject& meta = api::ensure_object(out.as_object(), "metadata");
    meta["name"] = "x";
    meta.erase("namespace");
    meta.erase("resourceVersion");
    if (kind.kind == "Pod" || is_group(kind))
      for (const std::string_view member : {"priority", "priorityClassName", "preemptionPolicy"})
        api::ensure_object(out.as_object(), "spec").erase(member);
    if (kind.kind == "Pod") {  // an account that exists, and whose token stays away
      JsonObject& spec = api::ensure_object(out.as_object(), "spec");
      spec["serviceAccountName"] = "default";
      spec["automountServiceAccountToken"] = false;
    }
    return out;
  }

  void expect_unchanged(const api::Kind& kind, std::string_view name_space,
                        const api::Object& before, const Result<Answer>& answer,
                        std::string_view way) {
    ASSERT_TRUE(answer) << kind.kind << " " << way << ": " << message(answer);
    EXPECT_EQ(revision(answer), before.revision()) << kind.kind << " was written by " << way;
    const api::ObjectPtr now = store_->get(store::make_key(kind, name_space, "x"));
    ASSERT_NE(now, nullptr);
    EXPECT_EQ(now->bytes(), before.bytes()) << way;
  }

  // Every way that should change nothing.
  void go_round(const api::Kind& kind, std::string_view name_space, std::string_view subresource) {
    const api::ObjectPtr stored = store_->get(store::make_key(kind, name_space, "x"));
    ASSERT_NE(stored, nullptr) << kind.kind;
    EXPECT_EQ(api::canonical_text(*kind.message, stored->document()), stored->bytes());
    const std::string text = seen(get(kind, name_space, "x"));
    expect_unchanged(kind, name_space, *stored, update(kind, name_space, "x", text, subresource),
                     "PUT");
    for (const auto& [type, empty] :
         {std::pair{PatchType::JsonPatch, "[]"}, std::pair{PatchType::Merge, "{}"},
          std::pair{PatchType::StrategicMerge, "{}"}})
      expect_unchanged(kind, name_space, *stored,
                       patch(kind, name_space, "x", type, empty, subresource), "an empty patch");
    expect_unchanged(kind, name_space, *stored,
                     patch(kind, name_space, "x", PatchType::Merge, text, subresource),
                     "a patch of everything");
  }
};

TEST_F(RoundTripTest, NothingIsLost) {
  for (const api::Kind* kind : api::all_kinds()) {
    if (!kind->stored || &api::stored_kind(*kind) != kind) continue;  // a view of another kind
    const bool has_status = kind->message->find("status") != nullptr;
    const std::string home = kind->namespaced ? "default" : "";
    LoopbackClient client(server_, {.name = "tester", .groups = {}});
    const auto feed = client.watch(*kind, [] {});
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
      SCOPED_TRACE(kind->kind + " " + std::to_string(seed));
      SeededEntropy entropy(seed);
      const Json sent = sampled(*kind, entropy);
      auto owned = decided_for(*kind);
      if (has_status && kind->kind != "Node") owned.insert("status");
      const auto created = create(*kind, home, api::to_text(sent));
      ASSERT_TRUE(created) << message(created);
      EXPECT_EQ(lost(sent, std::get<api::ObjectAnswer>(created->what).object->document(), owned),
                "");
      go_round(*kind, home, "");

      if (kind->subresource("status") != nullptr) {
        Json with_status =
            std::get<api::ObjectAnswer>(get(*kind, home, "x")->what).object->document();
        with_status.get_object()["status"] = sent.get_object().at("status");
        api::ensure_object(with_status.get_object(), "metadata")["resourceVersion"] =
            std::to_string(store_->get(store::make_key(*kind, home, "x"))->revision().value);
        const auto written = update(*kind, home, "x", api::to_text(with_status), "status");
        ASSERT_TRUE(written) << message(written);
        EXPECT_EQ(lost(with_status, std::get<api::ObjectAnswer>(written->what).object->document(),
                       kOwnedByServer),
                  "");
        go_round(*kind, home, "");
        go_round(*kind, home, "status");
      }

      const api::ObjectPtr stored = store_->get(store::make_key(*kind, home, "x"));
      std::vector<client::Event> events;
      while (feed->poll(events, 1000).more) {
      }
      ASSERT_FALSE(events.empty());
      EXPECT_EQ(events.back().object, stored);

      merge(*kind, home, "x", R"({"metadata":{"finalizers":null}})");
      if (kind->kind == "Namespace") {  // finalizers of its spec are nobody's here
        ASSERT_TRUE(update(*kind, home, "x", R"({"metadata":{"name":"x"}})", "finalize"));
      }
      api::DeleteOptions at_once;
      at_once.grace_period_s = 0;
      at_once.propagation_policy = "Background";
      (void)remove(*kind, home, "x", at_once);
      ASSERT_EQ(store_->get(store::make_key(*kind, home, "x")), nullptr);
    }
  }
}

TEST_F(RoundTripTest, ASchedulersPatchTouchesNothingElse) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SeededEntropy entropy(seed);
    ASSERT_TRUE(create(pods(), "default", api::to_text(sampled(pods(), entropy))));
    const auto without_verdict = [&] {
      Json document = store_->get("pods/default/x")->document();
      JsonObject& status = api::ensure_object(document.get_object(), "status");
      status.erase("conditions");
      status.erase("nominatedNodeName");
      return api::canonical_text(*pods().message, document);
    };
    const std::string before = without_verdict();
    ASSERT_TRUE(patch(pods(), "default", "x", PatchType::StrategicMerge, R"({"status":{
        "$setElementOrder/conditions":[{"type":"PodScheduled"}],
        "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}],
        "nominatedNodeName":"n1"}})",
                      "status"));
    EXPECT_EQ(without_verdict(), before) << seed;
    ASSERT_TRUE(merge(pods(), "default", "x", R"({"metadata":{"finalizers":null}})"));
    api::DeleteOptions at_once;
    at_once.grace_period_s = 0;
    ASSERT_TRUE(remove(pods(), "default", "x", at_once));
  }
}

}  // namespace
}  // namespace muster::server
