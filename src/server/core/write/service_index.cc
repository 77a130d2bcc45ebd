#include "server/core/write/service_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "api/kinds/kind.h"
#include "api/views/service_view.h"
#include "base/check.h"

namespace muster::server {
namespace {

// 10.96.0.0/16, as kubeadm has it: .0.1 is the server itself, the last is no host.
constexpr std::string_view kRange = "10.96.";
constexpr std::int64_t kHostMin = 2;
constexpr std::int64_t kHostMax = 65534;

const api::Kind& services() {
  static const api::Kind* const kKind = api::find_kind("", "Service");
  CHECK(kKind != nullptr);
  return *kKind;
}

std::string address_of(std::int64_t host) {
  return fmt::format("{}{}.{}", kRange, host / 256, host % 256);
}

// nullopt if the address is not of our range.
std::optional<std::int64_t> host_of(std::string_view address) {
  if (!address.starts_with(kRange)) return std::nullopt;
  const char* const end = address.data() + address.size();
  std::uint8_t high = 0;
  std::uint8_t low = 0;
  const auto [dot, bad] = std::from_chars(address.data() + kRange.size(), end, high);
  if (bad != std::errc() || dot == end) return std::nullopt;
  std::from_chars(dot + 1, end, low);
  const std::int64_t host = high * 256 + low;
  if (address_of(host) != address) return std::nullopt;  // written in another way
  return host;
}

template <typename Map, typename Key>
bool count(Map& map, const Key& key, std::int64_t sign) {
  const auto at = map.try_emplace(key, 0).first;
  at->second += sign;
  if (at->second != 0) return true;
  map.erase(at);
  return false;
}

}  // namespace

void NumberRange::set(std::int64_t number, bool taken) {
  if (number < first_ || number >= end()) return;
  taken_[static_cast<std::size_t>(number - first_)] = taken;
  if (!taken) lowest_ = std::min(lowest_, number);
  while (lowest_ < end() && is_taken(lowest_)) ++lowest_;
}

std::optional<std::int64_t> NumberRange::lowest_free(
    std::int64_t least, const std::set<std::int64_t>& not_these) const {
  for (std::int64_t number = std::max(lowest_, least); number < end(); ++number)
    if (!is_taken(number) && !not_these.contains(number)) return number;
  return std::nullopt;
}

ServiceIndex::ServiceIndex(store::Store& store)
    : counted_up_to_(store.revision()), free_hosts_(kHostMin, kHostMax) {
  for (const api::ObjectPtr& service : store.list(services().store_prefix + "/").objects)
    add(*service, +1);
  store.listen([this](std::span<const store::Change> changes) { on_changes(changes); });
}

bool ServiceIndex::has_address(const std::string& address) const {
  const std::lock_guard lock(mutex_);
  return addresses_.contains(address);
}

std::optional<std::string> ServiceIndex::free_address() const {
  const std::lock_guard lock(mutex_);
  const std::optional<std::int64_t> host = free_hosts_.lowest_free(kHostMin, {});
  return host ? std::optional(address_of(*host)) : std::nullopt;
}

bool ServiceIndex::has_port(std::int64_t port) const {
  const std::lock_guard lock(mutex_);
  return ports_.contains(port);
}

std::optional<std::int64_t> ServiceIndex::free_port(std::int64_t least,
                                                    const std::set<std::int64_t>& not_these) const {
  const std::lock_guard lock(mutex_);
  return free_ports_.lowest_free(least, not_these);
}

void ServiceIndex::on_changes(std::span<const store::Change> changes) {
  const std::lock_guard lock(mutex_);
  for (const store::Change& change : changes) {
    if (&change.object->kind() != &services()) continue;
    // The changes found when the store was opened are in what the constructor counted.
    if (change.revision <= counted_up_to_) continue;
    if (change.previous != nullptr) add(*change.previous, -1);
    if (change.type != store::Change::Type::Deleted) add(*change.object, +1);
  }
}

void ServiceIndex::add(const api::Object& service, std::int64_t sign) {
  const auto& given = service.view<api::ServiceView>();
  if (!given.cluster_ip.empty()) {
    const bool taken = count(addresses_, given.cluster_ip, sign);
    if (const auto host = host_of(given.cluster_ip)) free_hosts_.set(*host, taken);
  }
  for (const std::int64_t port : given.node_ports) free_ports_.set(port, count(ports_, port, sign));
}

}  // namespace muster::server
