#include "client/kit/work_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> run(WorkQueue& work, Time now, std::size_t limit = 100) {
  std::vector<std::string> out;
  const std::size_t done =
      work.run(now, limit, [&](const std::string& key) { out.push_back(key); });
  EXPECT_EQ(done, out.size());
  return out;
}

using Keys = std::vector<std::string>;

TEST(WorkQueueTest, GivesWhatIsDueOnceAndInOrder) {
  WorkQueue work;
  EXPECT_EQ(work.next_deadline(), std::nullopt);
  work.add("b");
  work.add_all(Keys{"a", "b", "c"});
  EXPECT_EQ(work.next_deadline(), Time{});
  EXPECT_EQ(run(work, Time{}, 2), (Keys{"a", "b"}));
  EXPECT_EQ(run(work, Time{}), Keys{"c"});
  EXPECT_EQ(run(work, Time{}), Keys{});
}

TEST(WorkQueueTest, KeepsWhatIsForLater) {
  WorkQueue work;
  const Time now{seconds{100}};
  work.add_at(now + seconds{5}, "late");
  EXPECT_EQ(work.next_deadline(), now + seconds{5});
  EXPECT_EQ(run(work, now + seconds{4}), Keys{});
  EXPECT_EQ(run(work, now + seconds{5}), Keys{"late"});
}

TEST(WorkQueueTest, WaitsLongerAfterEveryFailure) {
  WorkQueue work;
  const Time now{seconds{100}};
  Duration backoff{};
  for (const Duration pause : std::vector<Duration>{milliseconds{50}, milliseconds{100}}) {
    work.retry("x", backoff, now);
    EXPECT_EQ(work.next_deadline(), now + pause);
    EXPECT_EQ(run(work, now + pause), Keys{"x"});
  }
  for (int i = 0; i < 20; ++i) work.retry("x", backoff, now);
  EXPECT_EQ(backoff, seconds{30});
}

}  // namespace
}  // namespace muster::client
