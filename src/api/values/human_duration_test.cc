#include "api/values/human_duration.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

using namespace std::chrono_literals;

TEST(HumanDuration, GetsCoarserAsItGrows) {
  constexpr auto kDay = 24h;
  constexpr auto kYear = 365 * kDay;
  struct Case {
    Duration input;
    std::string_view want;
  };
  const Case cases[] = {
      {-2s, "<invalid>"},
      {-1500ms, "0s"},
      {-1ms, "0s"},
      {0s, "0s"},
      {999ms, "0s"},
      {119s, "119s"},
      {120s, "2m"},
      {125s, "2m5s"},
      {599s, "9m59s"},
      {600s, "10m"},
      {600s + 30s, "10m"},
      {1s, "1s"},
      {180min - 1s, "179m"},
      {179min, "179m"},
      {3h, "3h"},
      {3h + 1min, "3h1m"},
      {7h + 59min + 59s, "7h59m"},
      {8h + 59min, "8h"},
      {47h, "47h"},
      {48h, "2d"},
      {49h, "2d1h"},
      {8 * kDay - 1s, "7d23h"},
      {8 * kDay, "8d"},
      {2 * kYear - 1s, "729d"},
      {2 * kYear, "2y"},
      {2 * kYear + kDay, "2y1d"},
      {8 * kYear - 1s, "7y364d"},
      {8 * kYear, "8y"},
      {9 * kYear + 30 * kDay, "9y"},
  };
  for (const Case& c : cases) EXPECT_EQ(human_duration(c.input), c.want) << c.input.count();
}

}  // namespace
}  // namespace muster::api
