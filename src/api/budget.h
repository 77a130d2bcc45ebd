#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What one request may cost beyond its own size. A body can be small and yet stand for much: a YAML
// alias repeats a list, a JSON patch copies a subtree, one wrong list makes a thousand messages
// that each quote it. So everything that is made from a body and could outgrow it is counted here,
// and every codec uses these numbers and no others. They are far above what real objects need:
// below them texts and answers are the same as in Kubernetes.
namespace muster::api {

struct Limits {
  // Scalars, lists and objects in one document.
  std::size_t values = 300'000;
  // Unknown and duplicate fields that are named; the others are only counted. Upstream stops here
  // too.
  std::size_t reports = 100;
  // Of one path in a message.
  std::size_t path_bytes = std::size_t{1} << 10U;
  // Of one value in a message.
  std::size_t text_bytes = std::size_t{32} << 10U;
  // Errors of one object that are named.
  std::size_t causes = 500;
  // Of the texts of all causes together.
  std::size_t cause_bytes = std::size_t{128} << 10U;
  // What anchors and aliases of a YAML text may add to it.
  std::size_t alias_bytes = std::size_t{8} << 20U;
  // What the copies of a JSON patch may add, as upstream has it.
  std::size_t copied_bytes = std::size_t{3} << 20U;
  // What a JSON patch may move in memory.
  std::size_t moved_bytes = std::size_t{128} << 20U;
  // Of a JSON patch.
  std::size_t operations = 10'000;
  // Entries of stored lists and maps that a strategic merge patch may look at. Each is looked at
  // once, unless a patch names the same item again and again.
  std::size_t merged_entries = 300'000;

  // For answers of servers that we asked ourselves: a list may hold any number of values.
  static constexpr Limits of_answers() {
    Limits limits;
    limits.values = static_cast<std::size_t>(-1);
    return limits;
  }
};
inline constexpr Limits kLimits{};

// An amount that is spent piece by piece.
class Budget {
 public:
  explicit constexpr Budget(std::size_t amount) : left_(amount) {}

  // False if that is more than is left; then nothing is left.
  bool spend(std::size_t amount) {
    const bool enough = amount <= left_;
    left_ = enough ? left_ - amount : 0;
    return enough;
  }
  std::size_t left() const { return left_; }

 private:
  std::size_t left_;
};

// The first `bytes_max` bytes of `text` at most, without a UTF-8 character cut in half.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

// `text` if it is short enough for a message, otherwise its beginning and its length.
std::string shortened(std::string_view text, std::size_t bytes_max = kLimits.text_bytes);

// Sentences about one document, in the order found. The first ones are kept, the rest is counted,
// and a sentence that is not kept is not even written.
class Reports {
 public:
  // `write()` makes the sentence.
  template <typename Write>
  void add(Write&& write) {
    if (kept_.size() < kLimits.reports)
      kept_.push_back(std::forward<Write>(write)());
    else
      ++left_out_;
  }
  void add_left_out(std::size_t count) { left_out_ += count; }
  const std::vector<std::string>& kept() const& { return kept_; }
  std::vector<std::string> kept() && { return std::move(kept_); }
  std::size_t left_out() const { return left_out_; }
  // All that was kept, then "and 12 more" if there was more.
  std::vector<std::string> finish() &&;

 private:
  std::vector<std::string> kept_;
  std::size_t left_out_ = 0;
};

}  // namespace muster::api
