#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace muster::scheduler {

// Nodes with equal raw scores, in groups by number. A pick normalizes each group once, so there
// should be few; beyond kMax a full pass over the nodes costs no more, and there are no groups. A
// group whose last node has left gives its number back.
class ScoreGroups {
 public:
  using Id = std::uint16_t;
  static constexpr std::size_t kMax = 512;

  // Starts over, for nodes with `raw_count` raw scores each.
  void reset(std::size_t raw_count);
  // The group with these raw scores, made if need be; nullopt if it would be one too many. Stays
  // valid until it has been entered and left by as many.
  std::optional<Id> of(const std::vector<std::int64_t>& raws);
  void enter(Id group) { ++members_[group]; }
  void leave(Id group);

  // Numbers in use are below this.
  std::size_t end() const { return members_.size(); }
  // How many groups there are.
  std::size_t size() const { return ids_.size(); }
  std::int64_t raw(std::size_t group, std::size_t score) const {
    return raws_[group * raw_count_ + score];
  }
  std::span<const std::int64_t> raws(std::size_t group) const {
    return {raws_.data() + group * raw_count_, raw_count_};
  }
  std::size_t bytes() const;

 private:
  std::size_t raw_count_ = 0;
  std::map<std::vector<std::int64_t>, Id> ids_;
  std::vector<std::int64_t> raws_;  // [group * raw_count_ + score]
  std::vector<std::uint32_t> members_;
  std::vector<Id> free_;
};

}  // namespace muster::scheduler
