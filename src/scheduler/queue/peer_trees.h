#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "scheduler/framework/entity.h"
#include "scheduler/queue/queue_entity.h"

namespace muster::scheduler {

// Trees that an attempt cannot tell apart are *peers* and have equal shapes: the same groups with
// the same minimums and keys, and as many pods of each class. If one is refused, so would be all of
// them. So one speaks for all: it alone is woken when something happens, and the next only if the
// first was placed or is gone. k gangs that fit cost k + 1 attempts, however
// many wait.
//
// A tree with members that run is pinned to where they are, so it has no peers.
class PeerTrees {
 public:
  // The tree was refused and rests.
  void rests(QueueEntity& tree);
  // It no longer rests.
  void wakes(QueueEntity& tree);
  // The next to try of that shape, which then speaks for it; null if none rests, or if the one that
  // speaks for it is yet to be tried. The caller wakes it.
  QueueEntity* release(std::uint64_t shape);
  // The tree no longer speaks for its shape; true if it did: then another may.
  bool end_speech(const QueueEntity& tree);
  // The one of this shape that was refused last, or that is tried next.
  const QueueEntity* speaker(std::uint64_t shape) const;

 private:
  struct Peers {
    std::set<QueueEntity*, Arrival> resting;
    QueueEntity* speaker = nullptr;
  };
  std::map<std::uint64_t, Peers> by_shape_;
};

// The shape of a tree as it was popped. `pods_of` gives the sum of the class hashes of a leaf's
// pods, or 0 if one is like no other; `is_pinned` says whether members of the leaf run.
struct ShapeFacts {
  std::function<std::uint64_t(const GroupKey& leaf)> pods_of;
  std::function<bool(const GroupKey& leaf)> is_pinned;
};
std::uint64_t shape_of(const Group& root, std::uint64_t sequence, const ShapeFacts& facts);
// Whether a shape is that of a tree that has no peers.
bool is_like_no_other(std::uint64_t shape);

// Spreads the bits of a number, so that sums of them rarely meet.
std::uint64_t spread_bits(std::uint64_t number);

}  // namespace muster::scheduler
