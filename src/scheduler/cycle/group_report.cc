#include "scheduler/cycle/group_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/count_of.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kBoundsMax = 1000;

// "rack" of "topology.example.com/rack".
std::string_view word_of(std::string_view key) {
  const auto slash = key.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

}  // namespace

GroupReport::GroupReport(const GroupTree& tree, Workspace& workspace, Placer& placer,
                         SearchResult answer)
    : tree_(tree), workspace_(workspace), placer_(placer), answer_(answer) {
  ask_all_nodes();
}

std::string GroupReport::describe(std::uint32_t id, const Domain& domain) const {
  const std::optional<std::size_t> key = tree_.items[id].confining_key();
  return key ? fmt::format("{} {}", word_of(tree_.keys[*key]), domain.name) : std::string();
}

// Running members that contradict each other, then pods that do not exist. Each rules out every
// placement, whatever comes after it.
std::string GroupReport::why_beyond_room(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  if (item.key && item.is_shared && item.has_unlabelled)
    return "members already run on nodes that share no placement";
  if (item.key && !item.is_shared && item.pinned_to.size() > 1)
    return fmt::format("members already run in more than one {}: {}",
                       word_of(tree_.keys[*item.key]), fmt::join(item.pinned_to, ", "));
  if (item.key && item.has_unlabelled)
    return fmt::format("a member already runs on a node without label {}", tree_.keys[*item.key]);
  const auto queued =
      static_cast<std::int64_t>(item.is_leaf() ? item.members.size() : item.children.size());
  const std::int64_t held = item.is_leaf() ? item.held : 0;
  if (item.demanding != nullptr && held + queued < item.minimum)
    return item.demanding->reason(*item.group, {.scheduled = held, .remaining = queued});
  if (held + queued < item.minimum)
    return fmt::format("minCount ({}) cannot be satisfied: {} scheduled, {} remaining",
                       item.minimum, held, queued);
  return {};
}

// The first of these that holds is the dominant reason.
std::string GroupReport::why(std::uint32_t id, const Domain& within) {
  if (std::string beyond = why_beyond_room(id); !beyond.empty()) return beyond;
  const GroupTree::Item& item = tree_.items[id];
  const std::span<const Domain> domains = placer_.bounds().widest(id, within);
  std::string text = domains.empty()  ? why_no_domain(id)
                     : item.is_leaf() ? why_leaf(id, domains)
                                      : why_composite(id, domains);
  if (item.confining_key() && !domains.empty())
    text = fmt::format("0/{} placements are available, {}", domains.size(), text);
  if (item.insists)
    text +=
        fmt::format("; it waits until {} for one {} and then takes as few as possible",
                    format_time(*item.group->insists_until), word_of(tree_.keys[*item.preferred]));
  return text;
}

// The closest domain speaks for all: no other could hold more.
std::string GroupReport::why_leaf(std::uint32_t id, std::span<const Domain> domains) {
  const GroupTree::Item& item = tree_.items[id];
  const std::int64_t needed =
      item.missing() > 0 ? item.missing() : static_cast<std::int64_t>(item.members.size());
  const Closest best = closest(id, domains);
  const std::int64_t fits = best.bound.fits_at_most;
  // No domain takes a single pod, so none comes closest: the sentence is about the nodes of all of
  // them. The bound may be higher where pods want others near them: those might come.
  if ((fits == 0 && item.confining_key()) || (fits >= needed && is_refused_everywhere(id)))
    if (std::string text = nobody_fits(id, domains); !text.empty()) return text;
  const std::string where = describe(id, *best.domain);
  if (fits >= needed) {
    const std::string tail =
        is_unresolved(id)
            ? fmt::format("no way to place them together was found in {} steps", placer_.steps())
            : std::string("together they do not fit");
    return fmt::format("{}each of {} pods fits alone, {}",
                       where.empty() ? "" : where + " comes closest: ", needed, tail);
  }
  return fmt::format("{}{} of {} fit; {}", where.empty() ? "" : where + " comes closest: ", fits,
                     count_of(needed, "pod"), shortage(id, *best.domain, needed));
}

// Whether every node was asked about each kind of its pods, and refuses them as things are.
bool GroupReport::is_refused_everywhere(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  for (std::size_t s = 0; s < item.classes_below.size(); ++s)
    if (item.classes_below[s] > 0 && (fits_alone_[s] != 0 || plugins_[s].empty())) return false;
  return true;
}

std::string GroupReport::why_no_domain(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  const Topology& topology = workspace_.topology();
  const std::optional<std::size_t> key = item.confining_key();
  if (!key || topology.is_generated(*key) || !topology.split(topology.everywhere(), *key).empty())
    return "no feasible placements found";
  return fmt::format("no feasible placements found: no node has the label {}", tree_.keys[*key]);
}

// Whether those of its pods that have a place meet the minimum.
bool GroupReport::runs_already(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) return item.missing() == 0;
  return std::ranges::count_if(item.children, [this](std::uint32_t child) {
           return runs_already(child);
         }) >= item.minimum;
}

// How many of the pods that it needs have room and what the others lack, if room is what is
// missing; with room for all of them it is the children's own domains that do not go together.
std::string GroupReport::short_together(std::uint32_t id, const Domain& domain, std::int64_t fits) {
  const std::int64_t needed = pods_needed(id);
  if (fits >= needed) return tightest(id, domain, needed);
  return fmt::format(": {} of {} do; {}", fits, count_of(needed, "pod"),
                     shortage(id, domain, needed));
}

// The child that has the fewest domains to choose from, and how much of the whole the first of them
// holds: others would have to find room there as well, or elsewhere.
std::string GroupReport::tightest(std::uint32_t id, const Domain& within, std::int64_t needed) {
  constexpr std::size_t kChildrenMax = 64;
  const GroupTree::Item& item = tree_.items[id];
  std::optional<std::uint32_t> tight;
  std::size_t fewest = SIZE_MAX;
  std::string_view first;
  std::size_t all = 0;
  std::int64_t fits = 0;
  for (std::size_t i = 0; i < std::min(item.children.size(), kChildrenMax); ++i) {
    const std::uint32_t child = item.children[i];
    if (!tree_.items[child].confining_key()) continue;
    const std::span<const Domain> domains = placer_.bounds().widest(child, within);
    std::vector<const Domain*> open;
    for (const Domain& domain : domains)
      if (placer_.bounds().meets_in(child, domain)) open.push_back(&domain);
    if (open.empty() || open.size() >= fewest) continue;
    tight = child;
    fewest = open.size();
    all = domains.size();
    first = open.front()->name;
    fits = placer_.bounds().fits_in(id, *open.front());
  }
  if (!tight) return {};
  const std::string_view word = word_of(tree_.keys[*tree_.items[*tight].confining_key()]);
  return fmt::format(": {} fits in {} of {}, {} {} holds {} of {}",
                     tree_.items[*tight].group->key.name, fewest,
                     count_of(static_cast<std::int64_t>(all), word), word, first,
                     std::min(fits, needed), count_of(needed, "pod"));
}

// The pods without which the group does not have its minimum: those of the smallest children.
std::int64_t GroupReport::pods_needed(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) return item.missing();
  std::vector<std::int64_t> needs;
  for (const std::uint32_t child : item.children) needs.push_back(pods_needed(child));
  std::ranges::sort(needs);
  const auto counted = std::min(needs.size(), static_cast<std::size_t>(item.minimum));
  return std::accumulate(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(counted),
                         std::int64_t{0});
}

std::string GroupReport::why_composite(std::uint32_t id, std::span<const Domain> domains) {
  const GroupTree::Item& item = tree_.items[id];
  const Closest nearest = closest(id, domains);
  const Domain& domain = *nearest.domain;
  const DomainBound& best = nearest.bound;
  const std::string where = describe(id, domain);
  std::string text = where.empty() ? "" : where + " comes closest: ";
  if (runs_already(id)) {
    // Nothing is missing: the sentence is about the first pod that waits beyond the minimum.
    for (const std::uint32_t child : item.children)
      if (tree_.items[child].queued_below > 0)
        return fmt::format("{}{}: {}", text, tree_.items[child].group->key.name,
                           why(child, domain));
  }
  if (best.ready >= item.minimum) {
    text += is_unresolved(id)
                ? fmt::format(
                      "each of {} groups fits alone, no way to place them together was found in {} "
                      "steps",
                      item.minimum, placer_.steps())
                : fmt::format("each of {} groups fits alone, together they do not fit{}",
                              item.minimum, short_together(id, domain, best.fits_at_most));
    return text;
  }
  text += fmt::format("{} of {} fit", best.ready, count_of(item.minimum, "group"));
  for (const std::uint32_t child : item.children)
    if (!placer_.bounds().can_meet_minimum(child, domain)) {
      text += fmt::format("; {}: {}", tree_.items[child].group->key.name, why(child, domain));
      break;
    }
  return text;
}

// Bounds are what makes a refusal a proof: none of them reaches what is needed, or the search was
// exhausted.
std::vector<DomainBound> GroupReport::bounds(std::uint32_t id, const Domain& within,
                                             std::size_t at_most) {
  std::vector<DomainBound> bounds;
  for (const Domain& domain : placer_.bounds().widest(id, within)) {
    bounds.push_back(placer_.bounds().bound(id, domain));
    if (!tree_.items[id].confining_key()) bounds.back().domain.clear();
  }
  std::ranges::stable_sort(bounds, [](const DomainBound& a, const DomainBound& b) {
    return a.ready != b.ready ? a.ready > b.ready : a.fits_at_most > b.fits_at_most;
  });
  if (const std::size_t listed = std::min(at_most, kBoundsMax); bounds.size() > listed)
    bounds.resize(listed);
  return bounds;
}

}  // namespace muster::scheduler
