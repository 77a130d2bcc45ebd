#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/access/policy_rule.h"

namespace muster::server {

// Finds rules that cover a question among tens of thousands, without looking at each of them. For
// every text of a verb, group, resource or name it knows the rules that hold it, as a bit set where
// they are many; a question intersects four such sets. Texts are compared by hash, so a rule that
// is found must still be checked. Immutable; keeps nothing of the rules. Any thread.
class RuleIndex {
 public:
  // A rule is known by its place in the list.
  explicit RuleIndex(std::span<const PolicyRule* const> rules);

  // The first of the rules that may cover what is asked and that `covers` accepts. Tries the rules
  // that do cover it, and hardly ever another, until one is accepted. `work` grows by the steps.
  std::optional<std::uint32_t> find_first(const Attributes& asked,
                                          const std::function<bool(std::uint32_t)>& covers,
                                          std::size_t& work) const;
  std::size_t bytes() const;
  // An upper bound of bytes() for an index over rules that hold this many texts.
  static std::size_t bytes_for(std::size_t rules, std::size_t texts);

 private:
  using Bits = std::vector<std::uint64_t>;  // one for each rule
  void add(std::uint32_t text, Bits& rules, std::size_t& work) const;
  Bits find_all(const Attributes& asked, std::size_t& work) const;

  std::size_t words_;  // in a set of all rules
  // Texts of few rules: the text's hash above the rule's number, sorted.
  std::vector<std::uint64_t> few_;
  // Texts of many rules: sorted hashes, and for each of them a set of bits, one after the other.
  std::vector<std::uint32_t> many_;
  Bits many_rules_;
  std::vector<std::uint32_t> with_paths_;
};

}  // namespace muster::server
