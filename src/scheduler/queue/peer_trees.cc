#include "scheduler/queue/peer_trees.h"

#include <string_view>

#include "base/check.h"

namespace muster::scheduler {
namespace {

constexpr std::uint64_t kLikeNoOther = std::uint64_t{1} << 63U;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash;
}

// Children are summed, since their order, by age and name, makes no difference. False if the group
// has no peers.
bool add_group(const Group& group, const ShapeFacts& facts, std::uint64_t& sum) {
  std::uint64_t own = group.key.kind == GroupKind::PodGroup ? 1 : 2;
  const auto add = [&own](std::uint64_t fact) { own = spread_bits(own ^ fact); };
  add(static_cast<std::uint64_t>(group.minimum));
  add(group.gang ? 1 : 0);
  add(hash_of(group.topology_key));
  add(hash_of(group.placements));
  add(hash_of(group.preferred.key));
  add(group.insists_until ? 1 : 0);
  add(static_cast<std::uint64_t>(group.declared_size));
  if (group.key.kind == GroupKind::PodGroup) {
    if (facts.is_pinned(group.key)) return false;
    const std::uint64_t pods = facts.pods_of(group.key);
    if (pods == 0 && !group.pods.empty()) return false;
    add(pods);
    add(group.pods.size());
  }
  std::uint64_t below = 0;
  for (const Group& child : group.children)
    if (!add_group(child, facts, below)) return false;
  add(below);
  sum += own;
  return true;
}

}  // namespace

std::uint64_t spread_bits(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15U;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31U);
}

std::uint64_t shape_of(const Group& root, std::uint64_t sequence, const ShapeFacts& facts) {
  std::uint64_t sum = 0;
  if (!add_group(root, facts, sum)) return kLikeNoOther | sequence;
  const auto priority = static_cast<std::uint64_t>(static_cast<std::uint32_t>(root.priority));
  return spread_bits(sum ^ priority ^ hash_of(root.key.name_space)) & ~kLikeNoOther;
}

bool is_like_no_other(std::uint64_t shape) { return (shape & kLikeNoOther) != 0; }

void PeerTrees::rests(QueueEntity& tree) {
  Peers& peers = by_shape_[tree.shape];
  CHECK(peers.resting.insert(&tree).second);
  // One that is yet to be tried goes on to speak: it may be older.
  if (peers.speaker == nullptr || peers.speaker->place == Place::Resting) peers.speaker = &tree;
}

void PeerTrees::wakes(QueueEntity& tree) {
  const auto at = by_shape_.find(tree.shape);
  CHECK(at != by_shape_.end() && at->second.resting.erase(&tree) == 1);
  if (at->second.resting.empty() && at->second.speaker == nullptr) by_shape_.erase(at);
}

QueueEntity* PeerTrees::release(std::uint64_t shape) {
  const auto at = by_shape_.find(shape);
  if (at == by_shape_.end() || at->second.resting.empty()) return nullptr;
  Peers& peers = at->second;
  if (peers.speaker != nullptr && peers.speaker->place != Place::Resting) return nullptr;
  peers.speaker = *peers.resting.begin();
  return peers.speaker;
}

bool PeerTrees::end_speech(const QueueEntity& tree) {
  const auto at = by_shape_.find(tree.shape);
  if (at == by_shape_.end() || at->second.speaker != &tree) return false;
  at->second.speaker = nullptr;
  if (at->second.resting.empty()) by_shape_.erase(at);
  return true;
}

const QueueEntity* PeerTrees::speaker(std::uint64_t shape) const {
  const auto at = by_shape_.find(shape);
  return at == by_shape_.end() ? nullptr : at->second.speaker;
}

}  // namespace muster::scheduler
