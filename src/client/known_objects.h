#pragma once

#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "client/client.h"

namespace muster::client {

// What a feed has reported about a kind, so that after a gap it reports the differences.
//
//   begin_listing ──▶ put for each that exists ──▶ end_listing: what was not put is gone
class KnownObjects {
 public:
  using Report = std::function<void(Event event)>;

  explicit KnownObjects(Report report) : report_(std::move(report)) {}

  void begin_listing() { ++round_; }

  void put(api::ObjectPtr object) {
    const auto [at, is_new] = objects_.insert(Known{object, round_});
    if (is_new) return report_({Event::Type::Added, std::move(object)});
    // The names that it is found by are the same.
    const api::ObjectPtr before = std::exchange(at->object, object);
    at->round = round_;
    if (before->revision() == object->revision()) return;
    // Deleted and made again while we were not looking: two lives, not one.
    const bool reborn = before->meta().uid != object->meta().uid;
    if (reborn) report_({Event::Type::Deleted, before});
    report_({reborn ? Event::Type::Added : Event::Type::Modified, std::move(object)});
  }

  // `last` is its last state.
  void remove(api::ObjectPtr last) {
    if (objects_.erase(Known{last, 0}) > 0) report_({Event::Type::Deleted, std::move(last)});
  }

  // What the listing did not show is reported as deleted, in the order of the names.
  void end_listing() {
    std::vector<api::ObjectPtr> gone;
    for (const Known& known : objects_)
      if (known.round != round_) gone.push_back(known.object);
    std::ranges::sort(gone, {}, name_of);
    for (api::ObjectPtr& object : gone) remove(std::move(object));
  }

  // All of them, in the order of the names.
  std::vector<api::ObjectPtr> all() const {
    std::vector<api::ObjectPtr> out;
    out.reserve(objects_.size());
    for (const Known& known : objects_) out.push_back(known.object);
    std::ranges::sort(out, {}, name_of);
    return out;
  }

 private:
  // Namespace and name, in the memory of the object.
  using Name = std::tuple<std::string_view, std::string_view>;
  static Name name_of(const api::ObjectPtr& object) {
    return {object->meta().name_space, object->meta().name};
  }

  // Found by the name of its object: there are as many of these as the cluster has pods, and names
  // of their own would take more than the rest.
  struct Known {
    mutable api::ObjectPtr object;
    mutable std::uint64_t round = 0;  // of the listing that last showed it
    bool operator==(const Known& other) const { return name_of(object) == name_of(other.object); }
  };
  struct HashOfName {
    std::size_t operator()(const Known& known) const {
      const auto [name_space, name] = name_of(known.object);
      const std::hash<std::string_view> hash;
      return hash(name) * 31 + hash(name_space);
    }
  };

  const Report report_;
  boost::unordered_flat_set<Known, HashOfName> objects_;
  std::uint64_t round_ = 0;  // counts listings
};

}  // namespace muster::client
