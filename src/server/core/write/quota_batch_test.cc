#include <random>

#include "server/core/testing/core_fixture.h"
#include "server/core/write/batch.h"
#include "server/core/write/quota.h"

// Many requests of a namespace with quotas in one batch: each is decided on what those before it
// have used, and all become durable together.
namespace muster::server {
namespace {

class QuotaBatchTest : public CoreTest {
 protected:
  void submit(Request request) {
    const std::size_t mine = answers_.size();
    answers_.emplace_back();
    registry_.submit(std::move(request), now_,
                     [this, mine](Result<Answer> answer) { answers_[mine] = std::move(answer); });
  }
  void submit_pod(std::string_view name, std::string_view cpu = "1") {
    Request creation = request(Verb::Create, pods(), "default");
    ASSERT_TRUE(decode_into(
        creation,
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"main","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
            name, cpu)));
    submit(std::move(creation));
  }
  void submit_deletion(std::string_view name) {
    Request deletion = request(Verb::Delete, pods(), "default", name);
    deletion.remove.grace_period_s = 0;
    submit(std::move(deletion));
  }
  void create_quota(std::string_view name, std::string_view spec) {
    const auto made =
        create(quota_kind(), "default",
               fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}}}})", name, spec));
    ASSERT_TRUE(made) << message(made);
  }
  std::string used(std::string_view name) {
    return at(get(quota_kind(), "default", name), "status.used");
  }
  std::size_t count_answers(bool good) const {
    std::size_t count = 0;
    for (const auto& answer : answers_)
      if (answer && answer->has_value() == good) ++count;
    return count;
  }

  std::vector<std::optional<Result<Answer>>> answers_;
};

TEST_F(QuotaBatchTest, NobodyWaitsForACommitToBeCounted) {
  create_quota("q", R"("hard":{"pods":"3","requests.cpu":"10"})");
  create_quota("r", R"("hard":{"count/pods":"100"})");
  const std::int64_t before = store_->revision().value;
  for (int i = 0; i < 3; ++i) submit_pod(fmt::format("p{}", i));
  EXPECT_EQ(store_->revision().value, before) << "nothing was committed on the way";
  for (int i = 3; i < 5; ++i) submit_pod(fmt::format("p{}", i));
  EXPECT_EQ(store_->revision().value, before + 9) << "who is refused is refused by what is durable";
  registry_.flush();
  EXPECT_EQ(count_answers(true), 3U);
  EXPECT_EQ(
      message(*answers_[3]),
      R"(pods "p3" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3)");
  EXPECT_EQ(used("q"), R"({"pods":"3","requests.cpu":"3"})");
  EXPECT_EQ(used("r"), R"({"count/pods":"3"})");
  EXPECT_EQ(store_->revision().value, before + 9) << "each pod and its two quotas in one block";
}

TEST_F(QuotaBatchTest, WhoReadsOrChangesAQuotaSeesWhatWasUsedBefore) {
  create_quota("q", R"("hard":{"pods":"9"})");
  submit_pod("a");
  submit_pod("b");
  Request patch = request(Verb::Patch, quota_kind(), "default", "q");
  patch.patch_type = PatchType::Merge;
  patch.body = api::parse_json(R"({"spec":{"hard":{"pods":"3"}}})")->value;
  submit(std::move(patch));
  submit_pod("c");
  submit_pod("d");
  registry_.flush();
  EXPECT_EQ(at(*answers_[2], "status.used.pods"), "2");
  EXPECT_EQ(message(*answers_[3]), "no error");
  EXPECT_EQ(reason(*answers_[4]), Reason::Forbidden);
  EXPECT_EQ(used("q"), R"({"pods":"3"})");
}

TEST_F(QuotaBatchTest, AQuotaThatGoesIsNotCharged) {
  create_quota("q", R"("hard":{"pods":"1"})");
  submit_pod("a");
  submit(request(Verb::Delete, quota_kind(), "default", "q"));
  submit_pod("b");
  registry_.flush();
  EXPECT_EQ(count_answers(true), 3U);
}

TEST_F(QuotaBatchTest, TheNextBatchIsDecidedOnOneThatIsBeingCommitted) {
  create_quota("q", R"("hard":{"pods":"2"})");
  std::shared_ptr<Batch> first;
  int awaited = 0;
  registry_.set_await([&] {
    ++awaited;
    first->commit(*store_);
  });
  submit_pod("a");
  first = registry_.begin_commit();
  submit_pod("b");
  EXPECT_EQ(awaited, 0);
  submit_pod("c");
  EXPECT_EQ(awaited, 1) << "a refusal rests on what is durable";
  first->answer();
  registry_.flush();
  EXPECT_EQ(count_answers(true), 2U);
  EXPECT_EQ(reason(*answers_[2]), Reason::Forbidden);
  EXPECT_EQ(used("q"), R"({"pods":"2"})");
}

// What quotas say after each batch is what a count of everything says.
TEST_F(QuotaBatchTest, StatusIsExactAfterAnyBatch) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    const std::string quota = fmt::format("q{}", seed);
    create_quota(quota, R"("hard":{"pods":"12","requests.cpu":"40"})");
    for (int batch = 0; batch < 20; ++batch) {
      for (unsigned i = random() % 8; i > 0; --i) {
        const std::string name = fmt::format("s{}-{}", seed, random() % 20);
        if (random() % 3 == 0)
          submit_deletion(name);
        else
          submit_pod(name, std::to_string(1 + random() % 5));
      }
      registry_.flush();
      EXPECT_LE(store_->list("pods/default/").objects.size(), 12U);
      const std::string before = used(quota);
      ASSERT_TRUE(merge(quota_kind(), "default", quota, R"({"spec":{"hard":{"pods":"13"}}})"));
      EXPECT_EQ(used(quota), before)
          << "seed " << seed << ": counted again by a change of its spec";
      ASSERT_TRUE(merge(quota_kind(), "default", quota, R"({"spec":{"hard":{"pods":"12"}}})"));
    }
    for (const api::ObjectPtr& pod : store_->list("pods/default/").objects)
      submit_deletion(pod->meta().name);
    registry_.flush();
    EXPECT_EQ(used(quota), R"({"pods":"0","requests.cpu":"0"})");
    ASSERT_TRUE(remove(quota_kind(), "default", quota));
  }
}

}  // namespace
}  // namespace muster::server
