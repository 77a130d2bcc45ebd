#include "server/access/rule_cover.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/entropy.h"

namespace muster::server {
namespace {

using Rules = std::vector<PolicyRule>;

std::vector<const PolicyRule*> pointers(const Rules& rules) {
  std::vector<const PolicyRule*> out;
  for (const PolicyRule& rule : rules) out.push_back(&rule);
  return out;
}

std::vector<std::string> numbered(const std::string& word, int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(fmt::format("{}{}", word, i));
  return out;
}

// --- The naive answer: every single right against every rule.

bool has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::ranges::find(list, wanted) != list.end();
}
bool has_or_all(const std::vector<std::string>& list, std::string_view wanted) {
  return has(list, "*") || has(list, wanted);
}

struct Right {
  std::string verb, group, resource, name, path;
  auto operator<=>(const Right&) const = default;
};

bool covers_right(const PolicyRule& rule, const Right& right) {
  if (!has_or_all(rule.verbs, right.verb)) return false;
  if (!right.path.empty())
    return std::ranges::any_of(rule.non_resource_urls, [&](std::string_view pattern) {
      return pattern == "*" || pattern == right.path ||
             (pattern.ends_with('*') &&
              right.path.starts_with(pattern.substr(0, pattern.size() - 1)));
    });
  const std::size_t slash = right.resource.find('/');
  const bool resource =
      has_or_all(rule.resources, right.resource) ||
      (slash != std::string::npos && has(rule.resources, "*" + right.resource.substr(slash)));
  return resource && has_or_all(rule.api_groups, right.group) &&
         (rule.resource_names.empty() ||
          (!right.name.empty() && has(rule.resource_names, right.name)));
}

void expand(const PolicyRule& rule, std::set<Right>& out) {
  const auto names =
      rule.resource_names.empty() ? std::vector<std::string>{""} : rule.resource_names;
  for (const auto& verb : rule.verbs) {
    for (const auto& group : rule.api_groups)
      for (const auto& resource : rule.resources)
        for (const auto& name : names) out.insert({verb, group, resource, name, ""});
    for (const auto& path : rule.non_resource_urls) out.insert({verb, "", "", "", path});
  }
}

std::set<Right> naive_missing(const Rules& held, const Rules& granted) {
  std::set<Right> rights;
  for (const PolicyRule& rule : granted) expand(rule, rights);
  std::erase_if(rights, [&](const Right& right) {
    return std::ranges::any_of(held,
                               [&](const PolicyRule& rule) { return covers_right(rule, right); });
  });
  return rights;
}

PolicyRule random_rule(Entropy& entropy) {
  const auto some = [&](std::vector<std::string> from, std::size_t at_least) {
    std::vector<std::string> out;
    for (std::string& text : from)
      if (out.size() < at_least || entropy.below(3) == 0) out.push_back(std::move(text));
    if (out.size() > 1 && entropy.below(2) == 0) out.erase(out.begin());
    return out;
  };
  PolicyRule rule;
  rule.verbs = some({"get", "list", "*", "watch"}, 1);
  if (entropy.below(5) == 0) {
    rule.non_resource_urls = some({"/a/b", "/a/*", "/b", "*", "/a"}, 1);
    return rule;
  }
  rule.api_groups = some({"", "apps", "*"}, 1);
  rule.resources = some({"pods", "pods/status", "*/status", "nodes", "*"}, 1);
  if (entropy.below(3) == 0) rule.resource_names = some({"x", "y", "*"}, 1);
  return rule;
}

TEST(RuleCoverTest, AgreesWithTheExpansionOnSmallRoles) {
  SeededEntropy entropy(7);
  int refused = 0;
  for (int round = 0; round < 5'000; ++round) {
    Rules held;
    Rules granted;
    for (std::uint64_t i = entropy.below(6); i > 0; --i) held.push_back(random_rule(entropy));
    for (std::uint64_t i = 1 + entropy.below(2); i > 0; --i)
      granted.push_back(random_rule(entropy));
    const MissingRights missing = find_missing(pointers(held), granted, {.listed_max = 1'000});
    ASSERT_FALSE(missing.more || missing.unknown);
    std::set<Right> listed;
    for (const PolicyRule& rule : missing.rights) expand(rule, listed);
    ASSERT_EQ(listed, naive_missing(held, granted)) << "round " << round;
    refused += missing.none() ? 0 : 1;
  }
  // Both outcomes are common, or the comparison would prove little.
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 4'500);
}

// S-H5: a role of two kilobytes can hold a million rights; what it costs to judge goes with its
// text, not with the rights.
TEST(RuleCoverTest, AProductIsNotExpanded) {
  const PolicyRule large{.verbs = numbered("v", 120),
                         .api_groups = numbered("g", 120),
                         .resources = numbered("r", 120)};
  const std::size_t texts = 360;

  const Rules everything = {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}}};
  const MissingRights none = find_missing(pointers(everything), Rules{large});
  EXPECT_TRUE(none.none());
  EXPECT_LE(none.work, 10 * texts);

  const MissingRights all = find_missing({}, Rules{large});
  EXPECT_TRUE(all.more);
  EXPECT_EQ(all.rights.size(), 100U);
  EXPECT_LE(all.work, 10 * texts);

  // Held verb by verb: each rule covers a slice, together they cover it all.
  Rules slices;
  for (const std::string& verb : large.verbs)
    slices.push_back({.verbs = {verb}, .api_groups = {"*"}, .resources = large.resources});
  EXPECT_TRUE(find_missing(pointers(slices), Rules{large}).none());
  slices.back().resources.pop_back();
  const MissingRights one = find_missing(pointers(slices), Rules{large});
  EXPECT_FALSE(one.unknown);
  EXPECT_TRUE(one.more) << "one per group are missing, and a hundred are listed";
  EXPECT_EQ(one.rights.size(), 100U);
  EXPECT_EQ(one.rights.front().resources, std::vector<std::string>{"r119"});
  EXPECT_EQ(one.rights.front().verbs, std::vector<std::string>{"v119"});
}

// S-H5: rules built so that no two values are alike end at the limit of work, refused.
TEST(RuleCoverTest, WorkIsBounded) {
  const int n = 60;
  Rules held;
  // Each held rule lacks one value of each dimension, so that no class is like another.
  for (int i = 0; i < n; ++i) {
    PolicyRule rule{.verbs = numbered("v", n),
                    .api_groups = numbered("g", n),
                    .resources = numbered("r", n),
                    .resource_names = numbered("n", n)};
    rule.verbs.erase(rule.verbs.begin() + i);
    rule.api_groups.erase(rule.api_groups.begin() + (i * 7) % n);
    rule.resources.erase(rule.resources.begin() + (i * 11) % n);
    rule.resource_names.erase(rule.resource_names.begin() + (i * 13) % n);
    held.push_back(std::move(rule));
  }
  const PolicyRule all{.verbs = numbered("v", n),
                       .api_groups = numbered("g", n),
                       .resources = numbered("r", n),
                       .resource_names = numbered("n", n)};
  const MissingRights missing =
      find_missing(pointers(held), Rules{all}, {.listed_max = 10, .work_max = 100'000});
  EXPECT_TRUE(missing.unknown);
  EXPECT_FALSE(missing.none());
  EXPECT_LE(missing.work, 100'000U);
}

}  // namespace
}  // namespace muster::server
