#include "app/late_kinds.h"

#include <fmt/format.h>

#include <chrono>

#include "base/log.h"

namespace muster::app {
namespace {

constexpr Duration kPause = std::chrono::seconds{20};
constexpr int kLooks = 3;

}  // namespace

std::string LateKinds::look(std::span<const api::Kind* const> absent, Time now) {
  if (absent.empty()) return "";
  if (!next_) next_ = now + kPause;  // the start has just asked
  if (now < *next_) return "";
  next_ = now + kPause;
  const Result<client::ServedKinds> served = ask_(absent);
  if (!served) {
    // A server that is away says nothing about what it serves; feeds say that it is.
    if (served.error().reason != Reason::ServiceUnavailable &&
        served.error().reason != Reason::Timeout)
      log(LogLevel::Warning, "what the server has begun to serve is not known: {}",
          served.error().message);
    return "";
  }
  for (const api::Kind* kind : absent) {
    const std::string* const version = served->version_of(*kind);
    int& looks = seen_[kind];
    looks = version == nullptr ? 0 : looks + 1;
    if (looks >= kLooks) return fmt::format("{}/{}", kind->qualified_plural(), *version);
  }
  return "";
}

}  // namespace muster::app
