#include "workload/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "api/values/names.h"

namespace muster::workload {
namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelMax = 63;

std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::string joined(std::string_view workload, std::string_view template_name,
                   const std::string& hash) {
  const std::size_t room = kNameMax - hash.size() - 2;
  if (workload.size() + template_name.size() > room) {
    const std::size_t half = room / 2;
    if (workload.size() <= half) {
      template_name = template_name.substr(0, room - workload.size());
    } else if (template_name.size() <= half) {
      workload = workload.substr(0, room - template_name.size());
    } else {
      workload = workload.substr(0, room - half);
      template_name = template_name.substr(0, half);
    }
  }
  return fmt::format("{}-{}-{}", workload, template_name, hash);
}

}  // namespace

std::string short_hash(std::string_view text) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out = std::to_string(fnv1a(text));
  for (char& c : out) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return out;
}

std::string workload_name(std::string_view owner, std::string_view owner_uid) {
  // What Go prints of a value of the type UID: the hash must be the one Kubernetes computes.
  const std::string hash = short_hash("(types.UID)" + std::string(owner_uid));
  return fmt::format("{}-{}", owner.substr(0, kNameMax - hash.size() - 1), hash);
}

std::string template_name(std::string_view owner) {
  constexpr std::string_view kSuffix = "-pgt-0";
  std::string name = fmt::format("{}{}", owner, kSuffix);
  if (api::check_dns_label(name).empty()) return name;
  const std::string hash = short_hash(owner);
  std::string kept(owner.substr(0, kLabelMax - kSuffix.size() - hash.size() - 1));
  std::ranges::replace(kept, '.', '-');
  return fmt::format("{}-{}{}", kept, hash, kSuffix);
}

std::string group_name(std::string_view workload, std::string_view template_name) {
  return joined(workload, template_name, short_hash(fmt::format("{}{}", workload, template_name)));
}

std::string group_name(std::string_view workload, std::string_view template_name,
                       std::string_view owner_uid) {
  return joined(workload, template_name,
                short_hash(fmt::format("{}{}{}", workload, template_name, owner_uid)));
}

}  // namespace muster::workload
