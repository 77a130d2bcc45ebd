#include "base/sha1.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace muster {

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    out += kDigits[digest[i] >> 4U];
    out += kDigits[digest[i] & 0xFU];
  }
  return out;
}

}  // namespace muster
