#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "store/store.h"

namespace muster::server {

inline constexpr std::int64_t kNodePortMin = 30000;
inline constexpr std::int64_t kNodePortMax = 32767;

// Numbers of a range, each taken or free. The lowest free one is found without looking at all that
// are taken.
class NumberRange {
 public:
  NumberRange(std::int64_t first, std::int64_t last)
      : first_(first), lowest_(first), taken_(static_cast<std::size_t>(last - first + 1), false) {}

  // Numbers beyond the range do not matter.
  void set(std::int64_t number, bool taken);
  // The lowest from `least` on; nullopt if there is none besides `not_these`. To get several,
  // continue behind the last one: then each number is looked at once for all of them.
  std::optional<std::int64_t> lowest_free(std::int64_t least,
                                          const std::set<std::int64_t>& not_these) const;

 private:
  bool is_taken(std::int64_t number) const {
    return taken_[static_cast<std::size_t>(number - first_)];
  }
  std::int64_t end() const { return first_ + std::ssize(taken_); }

  const std::int64_t first_;
  std::int64_t lowest_;  // all below are taken
  std::vector<bool> taken_;
};

// Which addresses and node ports durable Services have. Every write of a Service asks: looking at
// all others each time would let one full namespace slow down everybody's writes.
class ServiceIndex {
 public:
  // Listens to the store from now on, so it must exist before the first commit and outlive the
  // last.
  explicit ServiceIndex(store::Store& store);

  // Any thread. The lowest free ones, as NumberRange has them; nullopt if there are none.
  bool has_address(const std::string& address) const;
  std::optional<std::string> free_address() const;
  bool has_port(std::int64_t port) const;
  std::optional<std::int64_t> free_port(std::int64_t least,
                                        const std::set<std::int64_t>& not_these) const;

 private:
  void on_changes(std::span<const store::Change> changes);
  void add(const api::Object& service, std::int64_t sign);

  const api::Revision counted_up_to_;  // by the constructor
  mutable std::mutex mutex_;
  // How many Services have each; under mutex_, as are the next two.
  boost::unordered_flat_map<std::string, std::int64_t> addresses_;
  boost::unordered_flat_map<std::int64_t, std::int64_t> ports_;
  NumberRange free_ports_{kNodePortMin, kNodePortMax};
  NumberRange free_hosts_;  // of our range of addresses
};

}  // namespace muster::server
