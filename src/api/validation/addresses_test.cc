#include "api/validation/addresses.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(Addresses, AreOfAFamily) {
  EXPECT_EQ(ip_family("10.0.0.1"), IpFamily::V4);
  EXPECT_EQ(ip_family("2001:db8::1"), IpFamily::V6);
  for (const char* text : {"", "10.0.0", "10.0.0.256", "x", "2001:db8:::1", "10.0.0.1/8"})
    EXPECT_EQ(ip_family(text), IpFamily::None) << text;
}

TEST(Addresses, RangesAreAddressesWithALength) {
  EXPECT_EQ(cidr_family("10.0.0.0/0"), IpFamily::V4);
  EXPECT_EQ(cidr_family("10.0.0.0/32"), IpFamily::V4);
  EXPECT_EQ(cidr_family("2001:db8::/128"), IpFamily::V6);
  for (const char* text : {"10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8x", "10.0.0.0/-1",
                           "2001:db8::/129", "x/8", "/8"})
    EXPECT_EQ(cidr_family(text), IpFamily::None) << text;
}

TEST(Addresses, OfOneMachineAloneAreNoTarget) {
  const std::string loopback = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
  const std::string local = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
  const std::string multicast =
      "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
  struct Case {
    std::string_view address;
    Messages want;
  };
  const Case cases[] = {
      {"10.0.0.1", {}},
      {"0.0.0.1", {}},
      {"0.0.0.0", {"may not be unspecified (0.0.0.0)"}},
      {"126.255.255.255", {}},
      {"127.0.0.1", {loopback}},
      {"127.255.255.255", {loopback}},
      {"128.0.0.1", {}},
      {"169.253.255.255", {}},
      {"169.254.0.0", {local}},
      {"169.254.255.255", {local}},
      {"169.255.0.0", {}},
      {"224.0.0.1", {multicast}},
      {"224.0.0.255", {multicast}},
      {"224.0.1.0", {}},
      {"::", {"may not be unspecified (::)"}},
      {"::1", {loopback}},
      {"::2", {}},
      {"1::", {}},
      {"fe80::1", {local}},
      {"febf::1", {local}},
      {"fec0::1", {}},
      {"ff02::1", {multicast}},
      {"ff12::1", {multicast}},
      {"ff01::1", {}},
      {"2001:db8::1", {}},
      {"x", {"must be a valid IP address"}},
  };
  for (const Case& c : cases) EXPECT_EQ(check_common_ip(c.address), c.want) << c.address;
}

}  // namespace
}  // namespace muster::api
