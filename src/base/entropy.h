#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Where random numbers come from: the system in the product, a seed in simulations and tests, so
// that UIDs, generated names and jitter replay.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual std::uint64_t next() = 0;

  // A number in [0, bound); bound must not be 0.
  std::uint64_t below(std::uint64_t bound);
};

class SystemEntropy final : public Entropy {
 public:
  std::uint64_t next() override;
};

class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

// A random UUID, version 4, in lower case.
std::string random_uuid(Entropy& entropy);
// `length` letters of the alphabet Kubernetes generates names from (no vowels, no look-alikes).
std::string random_suffix(Entropy& entropy, std::size_t length);

}  // namespace muster
