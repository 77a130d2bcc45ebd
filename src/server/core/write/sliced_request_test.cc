#include "server/core/write/sliced_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "server/core/testing/replaced_engine.h"
#include "server/core/testing/sliced_fixture.h"

namespace muster::server {
namespace {

// Requests about more objects than fit into a slice.
class SlicedRequestTest : public SlicedTest {
 protected:
  explicit SlicedRequestTest(std::unique_ptr<store::Engine> engine = store::make_memory_engine())
      : SlicedTest(std::move(engine)) {}

  static constexpr std::size_t kMany = 2 * kSliceChanges + 50;

  static std::string pod_name(std::size_t i) { return fmt::format("p{:04}", i); }

  void create_many_pods(std::string_view spec_members = {}) {
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(create_pod(pod_name(i), spec_members));
  }
  void create_gang() {
    ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n1"}})"));
    ASSERT_TRUE(create(api::kinds::pod_group(), "default",
                       R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":)"
                       R"({"minCount":1}}}})"));
    create_many_pods(R"("schedulingGroup":{"podGroupName":"g"})");
  }
  Request binding() {
    std::string items;
    for (std::size_t i = 0; i < kMany; ++i)
      items += fmt::format(R"({}{{"name":"{}","uid":"{}","nodeName":"n1"}})",
                           items.empty() ? "" : ",", pod_name(i), find_pod(i)->meta().uid);
    Request out = request(Verb::Create, api::kinds::group_binding(), "default");
    EXPECT_TRUE(decode_into(
        out, R"({"spec":{"root":{"kind":"PodGroup","name":"g"},"pods":[)" + items + "]}}"));
    return out;
  }
  api::ObjectPtr find_pod(std::size_t i) { return store_->get("pods/default/" + pod_name(i)); }
  static bool is_bound(const api::Object& pod) {
    return pod.bytes().find(R"("nodeName":"n1")") != std::string_view::npos;
  }
  std::size_t bound() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < kMany; ++i) count += is_bound(*find_pod(i)) ? 1 : 0;
    return count;
  }

  Request labelling(std::size_t i) {
    Request out = request(Verb::Patch, pods(), "default", pod_name(i));
    out.body = api::parse_json(R"({"metadata":{"labels":{"kept":"yes"}}})")->value;
    return out;
  }
};

TEST_F(SlicedRequestTest, OthersAreAnsweredBeforeAGroupBindingIsDecided) {
  create_gang();
  begin(binding());
  ASSERT_TRUE(registry_.unfinished());
  EXPECT_TRUE(meanwhile(labelling(0)));
  EXPECT_TRUE(registry_.unfinished());
  EXPECT_FALSE(answer_.has_value());
  EXPECT_EQ(bound(), 0U);

  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(*answer_) << message(*answer_);
  EXPECT_EQ(bound(), kMany);
}

TEST_F(SlicedRequestTest, AGroupIsBoundInOneBlock) {
  create_gang();
  begin(binding());
  const api::Revision before = store_->revision();
  registry_.flush();
  EXPECT_EQ(store_->revision().value, before.value + static_cast<std::int64_t>(kMany));
  EXPECT_EQ(find_pod(0)->revision().value, before.value + 1);
  const std::string version = std::to_string(store_->revision().value);
  const api::Json& document = std::get<api::DocumentAnswer>((*answer_)->what).document;
  EXPECT_EQ(api::find_string(*api::find(document, "status"), "resourceVersion"), version);
}

// A pod that changes after its slice is prepared again: what others wrote meanwhile stays.
TEST_F(SlicedRequestTest, WhatChangesBetweenSlicesIsNotOverwritten) {
  create_gang();
  begin(binding());
  EXPECT_TRUE(meanwhile(labelling(3)));
  registry_.flush();
  ASSERT_TRUE(*answer_) << message(*answer_);
  EXPECT_EQ(bound(), kMany);
  EXPECT_EQ(at(get(pods(), "default", pod_name(3)), "metadata.labels.kept"), "yes");
}

TEST_F(SlicedRequestTest, ManyChangesBetweenSlicesTakeMoreSlices) {
  create_gang();
  begin(binding());
  for (std::size_t i = 0; i < kSliceChanges + 10; ++i) ASSERT_TRUE(meanwhile(labelling(i)));
  registry_.flush();
  ASSERT_TRUE(*answer_) << message(*answer_);
  EXPECT_EQ(bound(), kMany);
}

TEST_F(SlicedRequestTest, ANodeThatGoesMeanwhileRefusesTheWholeGroup) {
  create_gang();
  begin(binding());
  EXPECT_TRUE(meanwhile(request(Verb::Delete, nodes(), "", "n1")));
  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(reason(*answer_), Reason::Conflict);
  ASSERT_FALSE(answer_->error().causes.empty());
  EXPECT_EQ(answer_->error().causes.front().type, "NodeNotFound");
  EXPECT_EQ(bound(), 0U);
}

TEST_F(SlicedRequestTest, APodThatGoesMeanwhileRefusesTheWholeGroup) {
  create_gang();
  begin(binding());
  EXPECT_TRUE(meanwhile(request(Verb::Delete, pods(), "default", pod_name(1))));
  registry_.flush();
  EXPECT_EQ(reason(*answer_), Reason::Conflict);
  EXPECT_EQ(answer_->error().causes.front().type, "NotFound");
  EXPECT_EQ(answer_->error().causes.front().field, "spec.pods[1]");
}

TEST_F(SlicedRequestTest, AServerThatStopsRefusesWhatIsUnfinished) {
  create_gang();
  begin(binding());
  registry_.refuse_unfinished();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(reason(*answer_), Reason::ServiceUnavailable);
  EXPECT_FALSE(registry_.unfinished());
  registry_.flush();
  EXPECT_EQ(bound(), 0U);
}

TEST_F(SlicedRequestTest, ACollectionIsDeletedInSlices) {
  create_many_pods();
  begin(request(Verb::DeleteCollection, pods(), "default"));
  ASSERT_TRUE(registry_.unfinished());
  EXPECT_TRUE(meanwhile(labelling(kMany - 1))) << "not its turn yet";
  EXPECT_EQ(find_pod(0), nullptr);
  EXPECT_NE(find_pod(kMany - 1), nullptr);
  EXPECT_FALSE(answer_.has_value());

  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(items(*answer_).items.size(), kMany);
  EXPECT_EQ(items(list(pods(), "default")).items.size(), 0U);
}

// Somebody else deletes an object before its turn, and makes another of that name.
TEST_F(SlicedRequestTest, ANewObjectOfTheSameNameIsLeftAlone) {
  create_many_pods();
  begin(request(Verb::DeleteCollection, pods(), "default"));
  EXPECT_TRUE(meanwhile(request(Verb::Delete, pods(), "default", pod_name(kMany - 1))));
  Request again = request(Verb::Create, pods(), "default");
  ASSERT_TRUE(decode_into(again, pod_json(pod_name(kMany - 1))));
  EXPECT_TRUE(meanwhile(std::move(again)));
  registry_.flush();
  EXPECT_EQ(names(list(pods(), "default")), pod_name(kMany - 1));
  EXPECT_EQ(items(*answer_).items.size(), kMany - 1);
}

// The answer comes when the last slice is durable, also if that one had nothing to write.
TEST_F(SlicedRequestTest, TheAnswerWaitsForEarlierSlices) {
  create_many_pods();
  // The last ones are on their way out already and stay as they are.
  for (std::size_t i = 2 * kSliceChanges; i < kMany; ++i) {
    ASSERT_TRUE(merge(pods(), "default", pod_name(i), R"({"metadata":{"finalizers":["a.b/c"]}})"));
    ASSERT_TRUE(remove(pods(), "default", pod_name(i)));
  }
  begin(request(Verb::DeleteCollection, pods(), "default"));
  while (registry_.unfinished()) registry_.work();
  EXPECT_FALSE(answer_.has_value()) << "nothing is durable yet";
  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(items(*answer_).items.size(), kMany);
  EXPECT_EQ(items(list(pods(), "default")).items.size(), kMany - 2 * kSliceChanges);
}

TEST_F(SlicedRequestTest, ALimitEndsADeletion) {
  create_many_pods();
  Request out = request(Verb::DeleteCollection, pods(), "default");
  out.list.limit = static_cast<std::int64_t>(kSliceChanges) + 5;
  EXPECT_EQ(items(send(std::move(out))).items.size(), kSliceChanges + 5);
  EXPECT_EQ(items(list(pods(), "default")).items.size(), kMany - kSliceChanges - 5);
}

TEST_F(SlicedRequestTest, ADryRunDeletesNothing) {
  create_many_pods();
  Request out = request(Verb::DeleteCollection, pods(), "default");
  out.dry_run = true;
  EXPECT_EQ(items(send(std::move(out))).items.size(), kMany);
  EXPECT_EQ(items(list(pods(), "default")).items.size(), kMany);
}

// However much a namespace holds, others are answered while it is counted, and the count is exact.
TEST_F(SlicedRequestTest, AQuotaIsCountedInSlices) {
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  const auto map = [](std::size_t i) {
    return fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i);
  };
  const std::size_t many = kSliceLooks + 200;
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(create(maps, "default", map(i)));

  const api::Kind& quotas = *api::find_kind("", "ResourceQuota");
  Request quota = request(Verb::Create, quotas, "default");
  ASSERT_TRUE(decode_into(
      quota, R"({"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"9999"}}})"));
  begin(std::move(quota));
  EXPECT_FALSE(answer_.has_value());
  Request another = request(Verb::Create, maps, "default");
  ASSERT_TRUE(decode_into(another, map(many)));
  EXPECT_TRUE(meanwhile(std::move(another)));
  EXPECT_TRUE(meanwhile(request(Verb::Delete, maps, "default", "m1")));
  EXPECT_TRUE(meanwhile(request(Verb::Delete, maps, "default", "m2")));
  EXPECT_FALSE(answer_.has_value());

  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(at(*answer_, "status.used"), fmt::format(R"({{"count/configmaps":"{}"}})", many - 1))
      << message(*answer_);
  ASSERT_TRUE(remove(maps, "default", "m3"));
  EXPECT_EQ(at(get(quotas, "default", "q"), "status.used"),
            fmt::format(R"({{"count/configmaps":"{}"}})", many - 2));

  // A patch of what it limits counts again.
  Request patch = request(Verb::Patch, quotas, "default", "q");
  patch.body = api::parse_json(R"({"spec":{"hard":{"configmaps":"9999"}}})")->value;
  begin(std::move(patch));
  EXPECT_FALSE(answer_.has_value());
  registry_.flush();
  EXPECT_EQ(at(*answer_, "status.used.configmaps"), std::to_string(many - 2)) << message(*answer_);
}

// S-M3: as many Events expire as are due, however many that is.
TEST_F(SlicedRequestTest, AllEventsThatAreDueExpire) {
  const api::Kind& events = api::kinds::event();
  for (std::size_t i = 0; i < kMany; ++i)
    ASSERT_TRUE(
        create(events, "default",
               fmt::format(R"({{"metadata":{{"name":"e{}"}},"involvedObject":{{"kind":"Pod",)"
                           R"("namespace":"default","name":"web"}},)"
                           R"("lastTimestamp":"2026-05-01T10:00:00Z"}})",
                           i)));
  now_ += std::chrono::minutes(61);
  registry_.expire(now_);
  EXPECT_TRUE(registry_.unfinished());
  registry_.flush();
  EXPECT_EQ(items(list(events, "default")).items.size(), 0U);
}

// What is deposited, and whether the store can be written.
struct Disk {
  std::vector<api::ObjectPtr> deposited;
  std::size_t most_bytes = 0;  // of one deposit
  bool fails = false;
};

class DepositEngine final : public ReplacedEngine {
 public:
  explicit DepositEngine(Disk& disk) : disk_(disk) {}
  Result<void> deposit(std::span<const api::ObjectPtr> objects) override {
    if (disk_.fails) return fail(Reason::InternalError, "no space left on device");
    std::size_t bytes = 0;
    for (const api::ObjectPtr& object : objects) bytes += object->bytes().size();
    disk_.most_bytes = std::max(disk_.most_bytes, bytes);
    disk_.deposited.insert(disk_.deposited.end(), objects.begin(), objects.end());
    return {};
  }

 private:
  Disk& disk_;
};

class DepositTest : public SlicedRequestTest {
 protected:
  DepositTest() : DepositTest(std::make_shared<Disk>()) {}

  const std::shared_ptr<Disk> disk_;

 private:
  explicit DepositTest(const std::shared_ptr<Disk>& disk)
      : SlicedRequestTest(std::make_unique<DepositEngine>(*disk)), disk_(disk) {}
};

// All but what the last slice prepares is stored before the commit for which others wait.
TEST_F(DepositTest, AGroupBindingStoresItsPodsBeforeItIsCommitted) {
  create_gang();
  begin(binding());
  EXPECT_TRUE(meanwhile(labelling(0)));
  EXPECT_EQ(disk_->deposited.size(), kSliceChanges);
  EXPECT_EQ(bound(), 0U);
  registry_.flush();
  ASSERT_TRUE(*answer_) << message(*answer_);
  EXPECT_EQ(disk_->deposited.size(), 2 * kSliceChanges);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < kMany; ++i)
    kept += std::ranges::count(disk_->deposited, find_pod(i)) > 0 ? 1 : 0;
  EXPECT_EQ(kept, 2 * kSliceChanges - 1) << "all but the one that somebody changed meanwhile";
}

TEST_F(DepositTest, NothingIsStoredForADryRunOrARefusal) {
  create_gang();
  Request dry = binding();
  dry.dry_run = true;
  EXPECT_TRUE(send(std::move(dry)));
  Request refused = binding();
  ASSERT_TRUE(send(request(Verb::Delete, nodes(), "", "n1")));
  EXPECT_FALSE(send(std::move(refused)));
  EXPECT_TRUE(disk_->deposited.empty());
}

TEST_F(DepositTest, AGroupIsBoundEvenIfNothingCouldBeStoredBefore) {
  create_gang();
  disk_->fails = true;
  EXPECT_TRUE(send(binding()));
  EXPECT_EQ(bound(), kMany);
}

// A slice of 200 pods of a megabyte each would take the registry's thread seconds.
TEST_F(DepositTest, ASliceIsBoundedByBytesToo) {
  create_gang();
  constexpr std::size_t kLarge = 20;
  for (std::size_t i = 0; i < kLarge; ++i) {
    Request grow = request(Verb::Patch, pods(), "default", pod_name(i));
    grow.body = api::parse_json(fmt::format(R"({{"metadata":{{"annotations":{{"a":"{}"}}}}}})",
                                            std::string(200'000, 'x')))
                    ->value;
    ASSERT_TRUE(send(std::move(grow)));
  }
  begin(binding());
  for (; registry_.unfinished(); registry_.work()) commit_staged();
  commit_staged();
  EXPECT_EQ(bound(), kMany);
  EXPECT_LT(disk_->most_bytes, kSliceBytes + 300'000);

  begin(request(Verb::DeleteCollection, pods(), "default"));
  EXPECT_LT(registry_.staged_bytes(), kSliceBytes + 300'000);
  registry_.flush();
  ASSERT_TRUE(*answer_) << message(*answer_);
}

}  // namespace
}  // namespace muster::server
