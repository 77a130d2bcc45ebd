#include "server/core/write/quota_count.h"

#include <fmt/format.h>

#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/testing/sliced_fixture.h"
#include "server/core/write/namespace_feeds.h"
#include "server/core/write/sliced_request.h"

namespace muster::server {
namespace {

// Namespaces with more objects than are counted in a slice, and what happens there meanwhile.
class QuotaCountTest : public SlicedTest {
 protected:
  static const api::Kind& maps() { return *api::find_kind("", "ConfigMap"); }
  static const api::Kind& quotas() { return *api::find_kind("", "ResourceQuota"); }
  static std::string pod_name(std::size_t i) { return fmt::format("p{:04}", i); }

  Request creation(const api::Kind& kind, std::string_view json) {
    Request out = request(Verb::Create, kind, "default");
    EXPECT_TRUE(decode_into(out, json));
    return out;
  }
  static std::string map(std::size_t i) {
    return fmt::format(R"({{"metadata":{{"name":"m{:05}"}}}})", i);
  }
};

// Of many changes of quotas one counts, so that a namespace is kept in memory for one; the others
// follow, and each count is exact when it is decided.
TEST_F(QuotaCountTest, QuotasOfANamespaceAreCountedOneAfterTheOther) {
  const std::size_t many = 2 * kSliceLooks + 10;
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(create(maps(), "default", map(i)));
  std::size_t count = many;
  std::vector<std::optional<std::size_t>> counts(3);  // as they were when each was answered
  for (std::size_t i = 0; i < counts.size(); ++i)
    registry_.submit(
        creation(
            quotas(),
            fmt::format(
                R"({{"metadata":{{"name":"q{}"}},"spec":{{"hard":{{"configmaps":"99999"}}}}}})",
                i)),
        now_, [&, i](const Result<Answer>& answer) {
          EXPECT_TRUE(answer) << message(answer);
          counts[i] = count;
          EXPECT_EQ(at(answer, "status.used.configmaps"), std::to_string(count));
        });
  EXPECT_FALSE(counts[0]);
  for (std::size_t turn = 0; registry_.unfinished() && turn < 100; ++turn) {
    // One of those that were counted, one that was not, and one that is new.
    EXPECT_TRUE(meanwhile(request(Verb::Delete, maps(), "default", fmt::format("m{:05}", turn))));
    EXPECT_TRUE(meanwhile(
        request(Verb::Delete, maps(), "default", fmt::format("m{:05}", many - 1 - turn))));
    EXPECT_TRUE(meanwhile(creation(maps(), map(many + turn))));
    --count;
    registry_.work();
    commit_staged();
  }
  EXPECT_FALSE(registry_.unfinished());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_TRUE(counts[i]) << i;
    EXPECT_EQ(at(get(quotas(), "default", fmt::format("q{}", i)), "status.used.configmaps"),
              std::to_string(count));
  }
}

// Names come and go before, at and behind the place that the count has reached.
TEST_F(QuotaCountTest, ACountIsExactWhereverItsNamesComeAndGo) {
  std::mt19937 random(7);  // NOLINT(*-msc51-cpp): the same every time
  const std::size_t names = 8 * kSliceLooks;
  std::set<std::size_t> present;
  for (std::size_t i = 0; i < names; i += 2) {
    ASSERT_TRUE(create(maps(), "default", map(i)));
    present.insert(i);
  }
  Request quota = creation(
      quotas(), R"({"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"99999"}}})");
  begin(std::move(quota));
  std::size_t turns = 0;
  for (; !answer_ && turns < 100; ++turns) {
    for (std::size_t change = 0; change < 50; ++change) {
      const std::size_t i = random() % names;
      if (present.erase(i) > 0) {
        EXPECT_TRUE(meanwhile(request(Verb::Delete, maps(), "default", fmt::format("m{:05}", i))));
      } else {
        EXPECT_TRUE(meanwhile(creation(maps(), map(i))));
        present.insert(i);
      }
    }
    registry_.work();
    commit_staged();
  }
  EXPECT_GT(turns, 1U);
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(at(*answer_, R"(status.used)"),
            fmt::format(R"({{"count/configmaps":"{}"}})", present.size()))
      << message(*answer_);
}

// What is replaced while somebody counts is not kept, and keeps no count from its end: who patches
// large objects would keep quotas off their namespace.
TEST_F(QuotaCountTest, LargeObjectsThatAreReplacedDoNotDelayACount) {
  constexpr std::size_t kLarge = 20;
  const std::size_t small = 2 * kSliceLooks + 5;
  const std::string large(1'000'000, 'x');
  const auto large_map = [&](std::size_t i, std::size_t version) {
    return fmt::format(R"({{"metadata":{{"name":"large{}"}},"data":{{"v":"{}","x":"{}"}}}})", i,
                       version, large);
  };
  for (std::size_t i = 0; i < small; ++i) ASSERT_TRUE(create(maps(), "default", map(i)));
  for (std::size_t i = 0; i < kLarge; ++i) ASSERT_TRUE(create(maps(), "default", large_map(i, 0)));
  // What one count takes alone.
  const auto slices_of_count = [&](std::string_view name, const auto& between) {
    begin(creation(
        quotas(),
        fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"hard":{{"configmaps":"9999"}}}}}})",
                    name)));
    std::size_t slices = 1;
    for (; !answer_ && slices < 40; ++slices) {
      between(slices);
      registry_.work();
      commit_staged();
    }
    EXPECT_TRUE(answer_.has_value());
    const Result<Answer> answer =
        std::move(answer_).value_or(fail(Reason::InternalError, "no answer"));
    EXPECT_EQ(at(answer, "status.used.configmaps"), std::to_string(small + kLarge))
        << message(answer);
    return slices;
  };
  const std::size_t alone = slices_of_count("q1", [](std::size_t) {});
  const std::size_t disturbed = slices_of_count("q2", [&](std::size_t version) {
    for (std::size_t i = 0; i < kLarge; ++i) {
      Request update = request(Verb::Update, maps(), "default", fmt::format("large{}", i));
      EXPECT_TRUE(decode_into(update, large_map(i, version)));
      EXPECT_TRUE(meanwhile(std::move(update)));
    }
  });
  EXPECT_LE(disturbed, alone + 1);
}

// Changes of what is used are not kept without end.
TEST_F(QuotaCountTest, ACountStartsOverIfTooMuchChangesAtOnce) {
  constexpr std::size_t kResources = 2'000;
  constexpr std::size_t kPods = 30;
  std::string hard;
  std::string amounts;
  for (std::size_t i = 0; i < kResources; ++i) {
    hard += fmt::format(R"("requests.example.com/r{:04}":"999999",)", i);
    amounts += fmt::format(R"({}"example.com/r{:04}":"1")", i == 0 ? "" : ",", i);
  }
  const std::size_t many = kSliceLooks + 5;
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(create(maps(), "default", map(i)));
  begin(creation(quotas(),
                 fmt::format(R"({{"metadata":{{"name":"q"}},"spec":{{"hard":{{{}"configmaps":)"
                             R"("9999","pods":"9999"}}}}}})",
                             hard)));
  EXPECT_FALSE(answer_);
  for (std::size_t i = 0; i < kPods; ++i) {
    const auto made = meanwhile(creation(
        pods(),
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"c","image":"i","resources":{{"requests":{{{}}},"limits":{{{}}}}}}}]}}}})",
            pod_name(i), amounts, amounts)));
    ASSERT_TRUE(made) << message(made);
  }
  registry_.work();  // finds that changes are lost
  commit_staged();
  EXPECT_FALSE(answer_);
  EXPECT_TRUE(meanwhile(request(Verb::Delete, maps(), "default", "m00000")));
  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(at(*answer_, "status.used.configmaps"), std::to_string(many - 1)) << message(*answer_);
  EXPECT_EQ(at(*answer_, "status.used.pods"), std::to_string(kPods));
}

// Between slices everything may happen, also to what is counted by more than its number.
TEST_F(QuotaCountTest, AQuotaIsExactWhateverChangesWhileItIsCounted) {
  const auto pod = [&](std::size_t i, std::string_view cpu) {
    Request out = request(Verb::Create, pods(), "default");
    EXPECT_TRUE(decode_into(
        out,
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
            pod_name(i), cpu)));
    return out;
  };
  const std::size_t many = kSliceLooks + 100;
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(send(pod(i, "1")));
  Request quota = request(Verb::Create, quotas(), "default");
  ASSERT_TRUE(decode_into(
      quota, R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"9999","requests.cpu":"9999"}}})"));
  begin(std::move(quota));
  EXPECT_FALSE(answer_.has_value());
  // One that was counted ends, goes, and comes again larger; one that was not goes.
  Request ended = request(Verb::Patch, pods(), "default", pod_name(1));
  ended.subresource = "status";
  ended.body = api::parse_json(R"({"status":{"phase":"Succeeded"}})")->value;
  EXPECT_TRUE(meanwhile(std::move(ended)));
  for (const std::size_t i : {std::size_t{2}, many - 1}) {
    Request deletion = request(Verb::Delete, pods(), "default", pod_name(i));
    deletion.remove.grace_period_s = 0;
    EXPECT_TRUE(meanwhile(std::move(deletion)));
  }
  EXPECT_TRUE(meanwhile(pod(2, "5")));
  EXPECT_FALSE(answer_.has_value());
  // Decided, and not durable yet when the count ends.
  registry_.submit(pod(many, "7"), now_, [](const Result<Answer>& answer) { EXPECT_TRUE(answer); });
  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(at(*answer_, "status.used"),
            fmt::format(R"({{"pods":"{}","requests.cpu":"{}"}})", many - 1, many - 3 + 5 + 7))
      << message(*answer_);
}

// What is used may be left out of a status by a user who may write it. It was counted again with
// the next write in the namespace, and all at once.
TEST_F(QuotaCountTest, AStatusThatDoesNotSayWhatIsUsedIsCountedInSlices) {
  const std::size_t many = kSliceLooks + 5;
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(create(maps(), "default", map(i)));
  ASSERT_TRUE(create(
      quotas(), "default",
      R"({"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"9999","secrets":"9999"}}})"));
  for (const std::string_view status :
       {R"({"status":null})", R"({"status":{"used":null}})",
        R"({"status":{"used":{"secrets":null}}})", R"({"status":{"used":{"configmaps":"?"}}})"}) {
    Request patch = request(Verb::Patch, quotas(), "default", "q");
    patch.subresource = "status";
    patch.body = api::parse_json(status)->value;
    begin(std::move(patch));
    if (answer_ && !*answer_) continue;  // refused, no matter
    EXPECT_TRUE(registry_.unfinished()) << status;
    EXPECT_TRUE(meanwhile(request(Verb::Delete, maps(), "default", "m00000"))) << status;
    EXPECT_FALSE(answer_.has_value()) << status;
    EXPECT_TRUE(meanwhile(creation(maps(), map(0))));
    registry_.flush();
    ASSERT_TRUE(answer_.has_value());
    EXPECT_EQ(at(*answer_, "status.used"),
              fmt::format(R"({{"configmaps":"{}","secrets":"0"}})", many))
        << status << ": " << message(*answer_);
  }
  // A status that says all is written as it is, without a look at the namespace.
  Request report = request(Verb::Patch, quotas(), "default", "q");
  report.subresource = "status";
  report.body = api::parse_json(R"({"status":{"used":{"configmaps":"7"}}})")->value;
  const auto reported = meanwhile(std::move(report));
  EXPECT_EQ(at(reported, "status.used.configmaps"), "7") << message(reported);
}

TEST_F(QuotaCountTest, AStoppedCountLeavesTheNamespaceToOthers) {
  for (std::size_t i = 0; i < kSliceLooks + 5; ++i)
    ASSERT_TRUE(create(maps(), "default", fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i)));
  const std::string quota =
      R"({"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"9999"}}})";
  Request first = request(Verb::Create, quotas(), "default");
  ASSERT_TRUE(decode_into(first, quota));
  begin(std::move(first));
  registry_.refuse_unfinished();
  EXPECT_EQ(reason(*answer_), Reason::ServiceUnavailable);
  const auto made = create(quotas(), "default", quota);
  EXPECT_EQ(at(made, "status.used"), fmt::format(R"({{"count/configmaps":"{}"}})", kSliceLooks + 5))
      << message(made);
}

}  // namespace
}  // namespace muster::server
