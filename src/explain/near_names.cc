#include "explain/near_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "api/kinds/kind.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;

constexpr std::size_t kNamesMax = 3;

// How many letters must be changed, added or dropped to turn one name into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// "train" is near "trainer" and "tarin", not near "web".
bool is_near(std::string_view a, std::string_view b) {
  if (a.find(b) != std::string_view::npos || b.find(a) != std::string_view::npos) return true;
  return distance(a, b) <= 1 + std::max(a.size(), b.size()) / 4;
}

struct Wanted {
  const api::Kind& kind;
  std::string_view name_space;
  std::string_view name;
};

std::string resource_word(const api::Kind& kind) { return kind.singular; }

Error unknown(const std::vector<const std::vector<ObjectPtr>*>& lists, const Wanted& wanted) {
  struct Near {
    std::size_t rank;
    std::string text;
  };
  std::vector<Near> near;
  std::size_t in_namespace = 0;
  for (const auto* list : lists)
    for (const ObjectPtr& object : *list) {
      const api::ObjectMeta& meta = object->meta();
      const bool same_kind = &object->kind() == &wanted.kind;
      const bool same_space = meta.name_space == wanted.name_space;
      if (same_kind && same_space) ++in_namespace;
      if (same_space && same_kind && is_near(meta.name, wanted.name))
        near.push_back({distance(meta.name, wanted.name), meta.name});
      else if (meta.name == wanted.name && same_space)
        near.push_back({0, fmt::format("{} {}", resource_word(object->kind()), meta.name)});
      else if (meta.name == wanted.name && same_kind)
        near.push_back({1, fmt::format("{} -n {}", meta.name, meta.name_space)});
    }
  std::ranges::stable_sort(near, {}, &Near::rank);
  std::vector<std::string> names;
  for (const Near& one : near)
    if (names.size() < kNamesMax) names.push_back(one.text);
  Error error = make_error(Reason::NotFound, "there is no {} {} in namespace {}",
                           resource_word(wanted.kind), wanted.name, wanted.name_space);
  if (!names.empty())
    error.message += fmt::format("; did you mean {}?", fmt::join(names, " or "));
  else if (in_namespace == 0)
    error.message +=
        fmt::format("; there are no {} there at all (-n chooses another)", wanted.kind.plural);
  else
    error.message += fmt::format("; `kubectl -n {} get {}` lists the {} there are",
                                 wanted.name_space, wanted.kind.plural, in_namespace);
  return error;
}

}  // namespace

Error unknown_group(const Objects& objects, const scheduler::GroupKey& key) {
  const bool is_leaf = key.kind == scheduler::GroupKind::PodGroup;
  return unknown({&objects.groups, &objects.pods},
                 {.kind = is_leaf ? api::kinds::pod_group() : api::kinds::composite_pod_group(),
                  .name_space = key.name_space,
                  .name = key.name});
}

Error unknown_pod(const Objects& objects, std::string_view name_space, std::string_view name) {
  return unknown({&objects.pods, &objects.groups},
                 {.kind = api::kinds::pod(), .name_space = name_space, .name = name});
}

std::string nearest(std::string_view word, const std::set<std::string>& known) {
  std::string best;
  std::size_t least = 0;
  for (const std::string& other : known)
    if (is_near(word, other))
      if (const std::size_t apart = distance(word, other); best.empty() || apart < least) {
        best = other;
        least = apart;
      }
  return best;
}

}  // namespace muster::explain
