#include "server/access/rule_cover.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace muster::server {
namespace {

// The held rules are numbered; a set of them is a sorted list of numbers.
using RuleSet = std::vector<std::uint32_t>;

struct Budget {
  std::size_t left;
  // False once everything is spent.
  bool spend(std::size_t steps) {
    left -= std::min(left, steps);
    return left > 0;
  }
};

RuleSet united(const RuleSet& a, const RuleSet& b) {
  RuleSet out;
  out.reserve(a.size() + b.size());
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

RuleSet shared(const RuleSet& a, const RuleSet& b) {
  RuleSet out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

void add_rule(RuleSet& set, std::uint32_t rule) {
  if (set.empty() || set.back() != rule) set.push_back(rule);
}

// Which held rules match a value of one dimension: those that list it, and those that match all.
class Index {
 public:
  void add(std::string_view value, std::uint32_t rule) {
    if (value == "*")
      add_rule(all_, rule);
    else
      add_rule(by_value_[std::string(value)], rule);
  }
  void add_all(std::uint32_t rule) { add_rule(all_, rule); }

  const RuleSet& all() const { return all_; }
  const RuleSet* listing(const std::string& value) const {
    const auto found = by_value_.find(value);
    return found == by_value_.end() ? nullptr : &found->second;
  }
  RuleSet matching(const std::string& value) const {
    const RuleSet* const list = listing(value);
    return list == nullptr ? all_ : united(all_, *list);
  }

 private:
  std::unordered_map<std::string, RuleSet> by_value_;
  RuleSet all_;
};

// Paths end in a star where they stand for all that begins so.
class PathIndex {
 public:
  void add(std::string_view pattern, std::uint32_t rule) {
    exact_.add(pattern, rule);
    if (pattern != "*" && pattern.ends_with('*'))
      add_rule(beginnings_[std::string(pattern.substr(0, pattern.size() - 1))], rule);
  }
  RuleSet matching(const std::string& path, Budget& budget) const {
    RuleSet out = exact_.matching(path);
    budget.spend(beginnings_.size());
    for (const auto& [beginning, rules] : beginnings_)
      if (path.starts_with(beginning)) out = united(out, rules);
    return out;
  }

 private:
  Index exact_;
  std::map<std::string, RuleSet> beginnings_;
};

// Values that the same held rules match are one class: nothing tells them apart.
struct Class {
  RuleSet rules;
  std::vector<std::uint32_t> values;  // by their place in the granted rule
};
using Classes = std::vector<Class>;

template <typename Match>
Classes classes_of(std::size_t values, Budget& budget, Match&& match) {
  std::map<RuleSet, std::vector<std::uint32_t>> by_rules;
  for (std::uint32_t i = 0; i < values; ++i) {
    RuleSet rules = match(i);
    if (!budget.spend(1 + rules.size())) break;
    by_rules[std::move(rules)].push_back(i);
  }
  Classes out;
  for (auto& [rules, indices] : by_rules) out.push_back({rules, std::move(indices)});
  return out;
}

// One granted rule against all held ones. Goes through the product class by class and dimension by
// dimension, with the rules that match everything chosen so far. A branch ends as soon as no rule
// is left (all below it is missing) or one of those left matches all of the dimensions below (all
// is covered): so the work depends on how many kinds of values there are, not on how many values.
class Product {
 public:
  static constexpr std::size_t kDimensionsMax = 4;
  using Box = std::array<const Class*, kDimensionsMax>;  // null: every value

  Product(std::vector<Classes> dimensions, std::size_t rules, Budget& budget)
      : dimensions_(std::move(dimensions)), budget_(budget), covers_from_(rules, kNever) {
    // Backwards: a rule covers all from a dimension on if it is in each of its classes and covers
    // all from the next one on.
    for (std::size_t d = dimensions_.size(); d-- > 0;) {
      std::unordered_map<std::uint32_t, std::size_t> in_classes;
      for (const Class& one : dimensions_[d])
        for (const std::uint32_t rule : one.rules) ++in_classes[rule];
      budget_.spend(in_classes.size());
      for (const auto& [rule, count] : in_classes) {
        const std::uint32_t next = d + 1 == dimensions_.size() ? end() : covers_from_[rule];
        if (count == dimensions_[d].size() && next == d + 1)
          covers_from_[rule] = static_cast<std::uint32_t>(d);
      }
    }
  }

  // Hands out every part of the product that nothing covers, until `missing` returns false.
  template <typename Missing>
  void each_missing(const Missing& missing) {
    Box box{};
    for (const Class& one : dimensions_.front()) {
      box[0] = &one;
      if (!descend(1, one.rules, box, missing)) return;
    }
  }

 private:
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t end() const { return static_cast<std::uint32_t>(dimensions_.size()); }

  template <typename Missing>
  bool descend(std::size_t d, const RuleSet& rules, Box& box, const Missing& missing) {
    if (!budget_.spend(1)) return false;
    if (rules.empty()) return missing(box);
    if (d == dimensions_.size()) return true;
    if (std::ranges::any_of(rules, [&](std::uint32_t rule) { return covers_from_[rule] <= d; }))
      return true;
    for (const Class& one : dimensions_[d]) {
      box[d] = &one;
      if (!budget_.spend(rules.size() + one.rules.size())) return false;
      if (!descend(d + 1, shared(rules, one.rules), box, missing)) return false;
    }
    box[d] = nullptr;
    return true;
  }

  const std::vector<Classes> dimensions_;
  Budget& budget_;
  // The first dimension from which on a rule matches every value.
  std::vector<std::uint32_t> covers_from_;
};

constexpr std::size_t kStepsPerText = 20;  // to put one into an index

// All held rules, ready to be asked.
class Held {
 public:
  Held(std::span<const PolicyRule* const> rules, Budget& budget) : size_(rules.size()) {
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      const PolicyRule& rule = *rules[i];
      const std::size_t texts = rule.verbs.size() + rule.api_groups.size() + rule.resources.size() +
                                rule.resource_names.size() + rule.non_resource_urls.size();
      if (!budget.spend(kStepsPerText * texts)) return;
      for (const std::string& verb : rule.verbs) verbs_.add(verb, i);
      for (const std::string& group : rule.api_groups) groups_.add(group, i);
      for (const std::string& resource : rule.resources) resources_.add(resource, i);
      // A star is no wildcard among names; no name at all is.
      for (const std::string& name : rule.resource_names) names_.add("=" + name, i);
      if (rule.resource_names.empty()) names_.add_all(i);
      for (const std::string& path : rule.non_resource_urls) paths_.add(path, i);
    }
  }

  Product resources_of(const PolicyRule& granted, Budget& budget) const {
    std::vector<Classes> dimensions;
    dimensions.push_back(classes_of(granted.api_groups.size(), budget, [&](std::size_t i) {
      return groups_.matching(granted.api_groups[i]);
    }));
    dimensions.push_back(classes_of(granted.resources.size(), budget, [&](std::size_t i) {
      return resource_rules(granted.resources[i]);
    }));
    dimensions.push_back(verbs_of(granted, budget));
    const std::vector<std::string>& names = granted.resource_names;
    dimensions.push_back(
        classes_of(std::max<std::size_t>(names.size(), 1), budget, [&](std::size_t i) {
          return names.empty() ? names_.all() : names_.matching("=" + names[i]);
        }));
    return {std::move(dimensions), size_, budget};
  }

  Product paths_of(const PolicyRule& granted, Budget& budget) const {
    std::vector<Classes> dimensions;
    dimensions.push_back(classes_of(granted.non_resource_urls.size(), budget, [&](std::size_t i) {
      return paths_.matching(granted.non_resource_urls[i], budget);
    }));
    dimensions.push_back(verbs_of(granted, budget));
    return {std::move(dimensions), size_, budget};
  }

 private:
  Classes verbs_of(const PolicyRule& granted, Budget& budget) const {
    return classes_of(granted.verbs.size(), budget,
                      [&](std::size_t i) { return verbs_.matching(granted.verbs[i]); });
  }
  // `pods/status` is also covered by `*/status`.
  RuleSet resource_rules(const std::string& resource) const {
    RuleSet out = resources_.matching(resource);
    if (const std::size_t slash = resource.find('/'); slash != std::string::npos)
      if (const RuleSet* any = resources_.listing("*" + resource.substr(slash)))
        out = united(out, *any);
    return out;
  }

  const std::size_t size_;
  Index verbs_;
  Index groups_;
  Index resources_;
  Index names_;
  PathIndex paths_;
};

// The missing rights of one granted rule, listed one by one as long as there is room.
class Listing {
 public:
  Listing(const PolicyRule& granted, std::size_t room) : granted_(granted), room_(room) {}

  // False once the list is full.
  bool add_resources(const Product::Box& box) {
    const std::size_t names = granted_.resource_names.size();
    return each(box[0], granted_.api_groups.size(), [&](std::uint32_t group) {
      return each(box[1], granted_.resources.size(), [&](std::uint32_t resource) {
        return each(box[3], names,
                    [&](std::uint32_t name) {
                      return add_verbs({group, resource, name}, box[2]);
                    }) &&
               (names > 0 || add_verbs({group, resource, 0}, box[2]));
      });
    });
  }
  bool add_paths(const Product::Box& box) {
    return each(box[0], granted_.non_resource_urls.size(),
                [&](std::uint32_t path) { return add_verbs({path, 0, 0}, box[1]); });
  }

  bool full() const { return full_; }
  // In the order of the granted rule.
  void write_resources(std::vector<PolicyRule>& out) const {
    for (const auto& [place, verbs] : verbs_) {
      PolicyRule right{.verbs = texts(verbs),
                       .api_groups = {granted_.api_groups[place[0]]},
                       .resources = {granted_.resources[place[1]]}};
      if (!granted_.resource_names.empty())
        right.resource_names = {granted_.resource_names[place[2]]};
      out.push_back(std::move(right));
    }
  }
  void write_paths(std::vector<PolicyRule>& out) const {
    for (const auto& [place, verbs] : verbs_)
      out.push_back(
          {.verbs = texts(verbs), .non_resource_urls = {granted_.non_resource_urls[place[0]]}});
  }

 private:
  using Place = std::array<std::uint32_t, 3>;
  static constexpr std::size_t kVerbsMax = 20'000;  // of all rights that are listed

  template <typename Visit>
  static bool each(const Class* one, std::size_t all, const Visit& visit) {
    if (one != nullptr) return std::ranges::all_of(one->values, visit);
    for (std::uint32_t i = 0; i < all; ++i)
      if (!visit(i)) return false;
    return true;
  }
  bool add_verbs(const Place& place, const Class* verbs) {
    if (verbs_.size() >= room_ && !verbs_.contains(place)) {
      full_ = true;
      return false;
    }
    std::vector<std::uint32_t>& list = verbs_[place];
    return each(verbs, granted_.verbs.size(), [&](std::uint32_t verb) {
      full_ = full_ || ++verbs_listed_ > kVerbsMax;
      if (!full_) list.push_back(verb);
      return !full_;
    });
  }
  std::vector<std::string> texts(std::vector<std::uint32_t> verbs) const {
    std::ranges::sort(verbs);
    std::vector<std::string> out;
    for (const std::uint32_t verb : verbs) out.push_back(granted_.verbs[verb]);
    return out;
  }

  const PolicyRule& granted_;
  const std::size_t room_;
  bool full_ = false;
  std::size_t verbs_listed_ = 0;
  std::map<Place, std::vector<std::uint32_t>> verbs_;
};

bool same_object(const PolicyRule& a, const PolicyRule& b) {
  return !a.resources.empty() && a.api_groups == b.api_groups && a.resources == b.resources &&
         a.resource_names == b.resource_names;
}

// Rights of different rules to the same object become one.
void merge(std::vector<PolicyRule> found, std::vector<PolicyRule>& into) {
  for (PolicyRule& right : found) {
    const auto like = std::ranges::find_if(
        into, [&](const PolicyRule& other) { return same_object(other, right); });
    if (like == into.end())
      into.push_back(std::move(right));
    else
      std::ranges::move(right.verbs, std::back_inserter(like->verbs));
  }
}

}  // namespace

MissingRights find_missing(std::span<const PolicyRule* const> held,
                           std::span<const PolicyRule> granted, CoverLimits limits) {
  MissingRights out;
  Budget budget{limits.work_max};
  const Held mine(held, budget);
  out.unknown = budget.left == 0;
  if (out.unknown) return out;
  for (const PolicyRule& rule : granted) {
    const std::size_t room = limits.listed_max - std::min(limits.listed_max, out.rights.size());
    std::vector<PolicyRule> found;
    if (!rule.api_groups.empty() && !rule.resources.empty() && !rule.verbs.empty()) {
      Listing listing(rule, room);
      mine.resources_of(rule, budget).each_missing([&](const Product::Box& box) {
        return listing.add_resources(box);
      });
      listing.write_resources(found);
      out.more = out.more || listing.full();
    }
    if (!rule.non_resource_urls.empty() && !rule.verbs.empty()) {
      Listing listing(rule, room);
      mine.paths_of(rule, budget).each_missing([&](const Product::Box& box) {
        return listing.add_paths(box);
      });
      listing.write_paths(found);
      out.more = out.more || listing.full();
    }
    merge(std::move(found), out.rights);
    out.unknown = budget.left == 0;
    if (out.more || out.unknown) break;
  }
  out.work = limits.work_max - budget.left;
  return out;
}

}  // namespace muster::server
