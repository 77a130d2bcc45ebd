#include "scheduler/preemption/evictor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::seconds;

class EvictorTest : public ::testing::Test {
 protected:
  Time now_{seconds{100}};
  FakeApi api_;
  std::vector<std::string> failed_;
  Evictor evictor_{
      {.in_flight_max = 2}, api_.calls, [this](const api::ObjectPtr& pod, const Error&, Time) {
        failed_.push_back(pod->meta().name);
      }};
};

TEST_F(EvictorTest, WritesTheConditionThenDeletes) {
  evictor_.evict(make_pod("p"), "somebody is more important", now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(api_.sent[0].request.verb, api::Verb::Patch);
  EXPECT_EQ(api_.sent[0].request.subresource, "status");
  api_.accept(0, now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  EXPECT_EQ(api_.sent[1].request.verb, api::Verb::Delete);
  EXPECT_EQ(api_.sent[1].request.remove.preconditions.uid, "uid-p");
  api_.accept(1, now_);
  EXPECT_EQ(evictor_.pending(), 0U);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(EvictorTest, KeepsABoundedNumberUnderWay) {
  for (const char* pod : {"a", "b", "c"}) evictor_.evict(make_pod(pod), "why", now_);
  EXPECT_EQ(api_.sent.size(), 2U);
}

TEST_F(EvictorTest, WritesAndTakesBackNominations) {
  evictor_.nominate(make_pod("p"), "n1", now_);
  ASSERT_EQ(api_.sent.size(), 1U);
  const api::Json* status = api::find(api_.sent[0].request.body, "status");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(api::find_string(*status, "nominatedNodeName"), "n1");
  api_.accept(0, now_);
  EXPECT_EQ(evictor_.pending(), 0U);
  EXPECT_TRUE(failed_.empty());
}

}  // namespace
}  // namespace muster::scheduler
