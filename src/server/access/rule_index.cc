#include "server/access/rule_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "base/entropy.h"

namespace muster::server {
namespace {

constexpr std::size_t kBits = 64;
constexpr unsigned kHashBits = 32;

// What a text is in a rule. A rule that names no objects holds the empty text as Unnamed.
enum class Part : std::uint8_t { Verb, Group, Resource, Name, Unnamed };

// (a * b) mod 2^61 - 1
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  constexpr unsigned kPrimeBits = 61;
  constexpr std::uint64_t kPrime = (std::uint64_t{1} << kPrimeBits) - 1;
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const std::uint64_t sum = static_cast<std::uint64_t>(product & kPrime) +
                            static_cast<std::uint64_t>(product >> kPrimeBits);
  return sum >= kPrime ? sum - kPrime : sum;
}

// A polynomial over pieces of 7 bytes at a place that nobody outside knows: who writes roles cannot
// choose texts that are taken for one another. What is decided does not depend on the place.
std::uint32_t hash_of(Part part, std::string_view text) {
  constexpr std::size_t kPiece = 7;
  constexpr unsigned kByteBits = 8;
  static const std::uint64_t place = SystemEntropy().next() >> 4U;
  std::uint64_t sum = multiply(static_cast<std::uint64_t>(part) + 1, place) + text.size();
  for (std::size_t at = 0; at < text.size(); at += kPiece) {
    std::uint64_t piece = 0;
    for (const char c : text.substr(at, kPiece))
      piece = (piece << kByteBits) | static_cast<unsigned char>(c);
    sum = multiply(sum, place) + piece;
  }
  return static_cast<std::uint32_t>(multiply(sum, place) >> 16U);
}

std::uint64_t entry_of(std::uint32_t text, std::size_t rule) {
  return (std::uint64_t{text} << kHashBits) | rule;
}

void set_bit(std::span<std::uint64_t> bits, std::size_t at) {
  bits[at / kBits] |= std::uint64_t{1} << (at % kBits);
}

}  // namespace

RuleIndex::RuleIndex(std::span<const PolicyRule* const> rules)
    : words_((rules.size() + kBits - 1) / kBits) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const PolicyRule& rule = *rules[i];
    const auto add_each = [&](Part part, const std::vector<std::string>& texts) {
      for (const std::string& text : texts) all.push_back(entry_of(hash_of(part, text), i));
    };
    add_each(Part::Verb, rule.verbs);
    add_each(Part::Group, rule.api_groups);
    add_each(Part::Resource, rule.resources);
    add_each(Part::Name, rule.resource_names);
    if (rule.resource_names.empty()) all.push_back(entry_of(hash_of(Part::Unnamed, ""), i));
    if (!rule.non_resource_urls.empty()) with_paths_.push_back(static_cast<std::uint32_t>(i));
  }
  std::ranges::sort(all);
  const auto same = std::ranges::unique(all);
  all.erase(same.begin(), same.end());
  for (auto at = all.begin(); at != all.end();) {
    const std::uint64_t text = *at >> kHashBits;
    const auto end =
        std::find_if(at, all.end(), [&](std::uint64_t each) { return each >> kHashBits != text; });
    // A set of bits is then both smaller and faster to go through.
    if (static_cast<std::size_t>(end - at) > 2 * words_) {
      many_.push_back(static_cast<std::uint32_t>(text));
      many_rules_.resize(many_rules_.size() + words_);
      const auto bits = std::span(many_rules_).last(words_);
      for (; at != end; ++at) set_bit(bits, static_cast<std::uint32_t>(*at));
    } else {
      few_.insert(few_.end(), at, end);
      at = end;
    }
  }
  few_.shrink_to_fit();
}

std::size_t RuleIndex::bytes_for(std::size_t rules, std::size_t texts) {
  return (texts + 2 * rules) * sizeof(std::uint64_t);
}

std::size_t RuleIndex::bytes() const {
  return (few_.size() + many_rules_.size()) * sizeof(std::uint64_t) +
         (many_.size() + with_paths_.size()) * sizeof(std::uint32_t);
}

// Adds the rules that hold the text.
void RuleIndex::add(std::uint32_t text, Bits& rules, std::size_t& work) const {
  if (const auto found = std::ranges::lower_bound(many_, text);
      found != many_.end() && *found == text) {
    const std::size_t from = static_cast<std::size_t>(found - many_.begin()) * words_;
    for (std::size_t i = 0; i < words_; ++i) rules[i] |= many_rules_[from + i];
    work += words_;
    return;
  }
  for (auto at = std::ranges::lower_bound(few_, entry_of(text, 0));
       at != few_.end() && *at >> kHashBits == text; ++at) {
    set_bit(rules, static_cast<std::uint32_t>(*at));
    ++work;
  }
}

// The same as covers() asks, of all rules at once.
RuleIndex::Bits RuleIndex::find_all(const Attributes& asked, std::size_t& work) const {
  Bits left(words_, ~std::uint64_t{0});
  Bits any(words_);
  const auto keep = [&](std::initializer_list<std::uint32_t> texts) {
    std::ranges::fill(any, 0);
    for (const std::uint32_t text : texts) add(text, any, work);
    for (std::size_t i = 0; i < words_; ++i) left[i] &= any[i];
    work += words_;
  };
  keep({hash_of(Part::Verb, "*"), hash_of(Part::Verb, asked.verb)});
  keep({hash_of(Part::Group, "*"), hash_of(Part::Group, asked.group)});
  keep({hash_of(Part::Unnamed, ""), hash_of(Part::Name, asked.name)});
  if (asked.subresource.empty())
    keep({hash_of(Part::Resource, "*"), hash_of(Part::Resource, asked.resource)});
  else
    keep({hash_of(Part::Resource, "*"),
          hash_of(Part::Resource, fmt::format("{}/{}", asked.resource, asked.subresource)),
          hash_of(Part::Resource, fmt::format("*/{}", asked.subresource))});
  return left;
}

std::optional<std::uint32_t> RuleIndex::find_first(const Attributes& asked,
                                                   const std::function<bool(std::uint32_t)>& covers,
                                                   std::size_t& work) const {
  const auto is_it = [&](std::uint32_t rule) {
    ++work;
    return covers(rule);
  };
  if (!asked.is_resource) {
    const auto found = std::ranges::find_if(with_paths_, is_it);
    return found == with_paths_.end() ? std::nullopt : std::optional(*found);
  }
  const Bits rules = find_all(asked, work);
  for (std::size_t i = 0; i < rules.size(); ++i)
    for (std::uint64_t left = rules[i]; left != 0; left &= left - 1)
      if (const auto rule = static_cast<std::uint32_t>(
              i * kBits + static_cast<std::size_t>(std::countr_zero(left)));
          is_it(rule))
        return rule;
  return std::nullopt;
}

}  // namespace muster::server
