#include "api/values/time_zones.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(TimeZones, KnowsThoseThereAre) {
  for (const char* name : {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+12",
                           "Zulu", "Africa/Abidjan"})
    EXPECT_TRUE(is_time_zone(name)) << name;
  for (const char* name :
       {"", "Local", "utc", "Europe/Berln", "Europe", "Europe/", "../etc/passwd"})
    EXPECT_FALSE(is_time_zone(name)) << name;
}

}  // namespace
}  // namespace muster::api
