#include "api/validation/addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace muster::api {

IpFamily ip_family(std::string_view address) {
  const std::string text(address);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return IpFamily::V4;
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return IpFamily::V6;
  return IpFamily::None;
}

Messages check_common_ip(std::string_view address) {
  const std::string text(address);
  in_addr four{};
  in6_addr six{};
  bool unspecified = false;
  bool loopback = false;
  bool link_local = false;
  bool link_multicast = false;
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) {
    const std::uint32_t bits = ntohl(four.s_addr);
    unspecified = bits == 0;
    loopback = bits >> 24 == 127;
    link_local = bits >> 16 == 0xa9fe;       // 169.254.0.0/16
    link_multicast = bits >> 8 == 0xe00000;  // 224.0.0.0/24
  } else if (inet_pton(AF_INET6, text.c_str(), &six) == 1) {
    const unsigned first = six.s6_addr[0];
    const unsigned second = six.s6_addr[1];
    const auto zeros = std::ranges::count(six.s6_addr, 0);
    unspecified = zeros == 16;
    loopback = zeros == 15 && six.s6_addr[15] == 1;
    link_local = first == 0xfe && (second & 0xc0U) == 0x80;
    link_multicast = first == 0xff && (second & 0x0fU) == 0x02;
  } else {
    return {"must be a valid IP address"};
  }
  Messages out;
  if (unspecified) out.push_back("may not be unspecified (" + text + ")");
  if (loopback) out.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (link_local)
    out.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (link_multicast)
    out.emplace_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  return out;
}

IpFamily cidr_family(std::string_view cidr) {
  const std::size_t slash = cidr.find('/');
  if (slash == std::string_view::npos) return IpFamily::None;
  const IpFamily family = ip_family(cidr.substr(0, slash));
  const std::string_view bits = cidr.substr(slash + 1);
  unsigned length = 0;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), length);
  const bool fits = error == std::errc{} && end == bits.data() + bits.size() &&
                    length <= (family == IpFamily::V4 ? 32U : 128U);
  return fits ? family : IpFamily::None;
}

}  // namespace muster::api
