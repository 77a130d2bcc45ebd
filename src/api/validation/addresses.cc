#include "api/validation/addresses.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <string>

namespace muster::api {

IpFamily ip_family(std::string_view address) {
  const std::string text(address);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return IpFamily::V4;
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return IpFamily::V6;
  return IpFamily::None;
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
