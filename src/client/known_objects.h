#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/client.h"

namespace muster::client {

// What a feed has reported of a kind, so that after a gap it reports the differences.
//
//   begin_listing ──▶ put for each that exists ──▶ end_listing: what was not put is gone
class KnownObjects {
 public:
  using Report = std::function<void(Event event)>;

  explicit KnownObjects(Report report) : report_(std::move(report)) {}

  void begin_listing() { ++round_; }

  void put(api::ObjectPtr object) {
    Known& known = objects_[api::key_text(object->meta())];
    const api::ObjectPtr before = std::exchange(known.object, object);
    known.round = round_;
    if (before && before->revision() == object->revision()) return;
    // Deleted and made again while we were not looking: two lives, not one.
    const bool reborn = before && before->meta().uid != object->meta().uid;
    if (reborn) report_({Event::Type::Deleted, before});
    report_({before && !reborn ? Event::Type::Modified : Event::Type::Added, std::move(object)});
  }

  // `last` is its last state.
  void remove(api::ObjectPtr last) {
    if (objects_.erase(api::key_text(last->meta())) > 0)
      report_({Event::Type::Deleted, std::move(last)});
  }

  // What the listing did not show is reported as deleted, in the order of the keys.
  void end_listing() {
    std::vector<std::string> gone;
    for (const auto& [key, known] : objects_)
      if (known.round != round_) gone.push_back(key);
    std::ranges::sort(gone);
    for (const std::string& key : gone) {
      const auto at = objects_.find(key);
      const api::ObjectPtr last = std::move(at->second.object);
      objects_.erase(at);
      report_({Event::Type::Deleted, last});
    }
  }

  // All of them, in the order of the keys.
  std::vector<api::ObjectPtr> all() const {
    std::vector<std::pair<std::string_view, api::ObjectPtr>> sorted;
    for (const auto& [key, known] : objects_) sorted.emplace_back(key, known.object);
    std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first; });
    std::vector<api::ObjectPtr> out;
    for (auto& [key, object] : sorted) out.push_back(std::move(object));
    return out;
  }

 private:
  struct Known {
    api::ObjectPtr object;
    std::uint64_t round = 0;  // of the listing that last showed it
  };

  const Report report_;
  boost::unordered_flat_map<std::string, Known> objects_;  // by namespace/name
  std::uint64_t round_ = 0;                                // counts listings
};

}  // namespace muster::client
