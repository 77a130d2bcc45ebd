#include "scheduler/cycle/group_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "api/values/quantity.h"
#include "base/count_of.h"
#include "scheduler/cycle/fit_error.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kBoundsMax = 1000;

// Of so many classes of pods every node is asked. A tree with more of them is woken by any room
// that is made, and never called hopeless.
constexpr std::size_t kClassesAskedMax = 64;

// "rack" of "topology.example.com/rack".
std::string_view word_of(std::string_view key) {
  const auto slash = key.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

std::string amount_text(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") return "cpu " + api::Quantity::of_milli(amount).text();
  if (resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-"))
    return resource + " " + api::Quantity::of_units(amount, api::Quantity::Format::BinarySI).text();
  return fmt::format("{} {}", resource, amount);
}

// Whether the filter that refuses a node asks about other pods: siblings that are placed first may
// turn its answer around, unless its cap rules out the node for good.
bool may_accept_later(const Standing& standing, const Standing::Answer& answer, NodeId node) {
  return std::ranges::any_of(standing.filters(), [&](const NamedFilter& filter) {
    return filter.name == answer.plugin && filter.pass->follows_moves() &&
           filter.pass->cap_at(node) > 0;
  });
}

}  // namespace

GroupReport::GroupReport(const GroupTree& tree, Workspace& workspace, Placer& placer,
                         SearchResult answer)
    : tree_(tree), workspace_(workspace), placer_(placer), answer_(answer) {
  ask_all_nodes();
}

// Every node is asked once per class, and what is kept of the answers is what the sentences need:
// who refuses at all (that is what could wake the group), and in which cells an eviction could make
// room.
void GroupReport::ask_all_nodes() {
  const Topology& topology = workspace_.topology();
  plugins_.resize(tree_.standings.size());
  fits_alone_.resize(tree_.standings.size(), 0);
  open_.assign(tree_.standings.size(), std::vector<char>(topology.cell_count(), 0));
  for (std::size_t s = 0; s < tree_.standings.size(); ++s) {
    if (s >= kClassesAskedMax) {
      open_[s].assign(open_[s].size(), 1);
      continue;
    }
    const Standing& standing = workspace_.standing(s);
    if (const auto& everywhere = standing.refused_everywhere()) {
      if (!everywhere->plugin.empty()) plugins_[s].emplace_back(everywhere->plugin);
      for (const std::string_view plugin : standing.narrowing()) plugins_[s].emplace_back(plugin);
      continue;
    }
    std::vector<char> refuses(standing.filters().size(), 0);
    bool any_accepts = false;
    for (std::size_t cell = 0; cell < topology.cell_count(); ++cell)
      for (const NodeId node : topology.nodes(static_cast<CellId>(cell))) {
        if (standing.is_feasible(
                node)) {  // as of the start of the attempt, which is what evictions start from
          open_[s][cell] = 1;
          any_accepts = true;
          continue;
        }
        const Standing::Answer answer = standing.ask(node);
        if (answer.verdict.remedy() == Remedy::Eviction || may_accept_later(standing, answer, node))
          open_[s][cell] = 1;
        for (std::size_t f = 0; f < refuses.size(); ++f)
          refuses[f] |= standing.filters()[f].name == answer.plugin;
      }
    fits_alone_[s] = any_accepts ? 1 : 0;
    for (std::size_t f = 0; f < refuses.size(); ++f)
      // Nodes that take some pods, but not enough of them, refuse by room.
      if (refuses[f] || (any_accepts && standing.filters()[f].name == "NodeResourcesFit"))
        plugins_[s].emplace_back(standing.filters()[f].name);
  }
}

std::string GroupReport::describe(std::uint32_t id, const Domain& domain) const {
  const std::optional<std::size_t> key = tree_.items[id].confining_key();
  return key ? fmt::format("{} {}", word_of(tree_.keys[*key]), domain.name) : std::string();
}

// The first of these that holds is the dominant reason: running members that contradict each other,
// then pods that do not exist, then room. Each rules out every placement, whatever comes after it.
std::string GroupReport::why(std::uint32_t id, const Domain& within) {
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
  const Domain* closest = nullptr;
  std::int64_t fits = 0;
  for (const Domain& domain : domains)
    if (const std::int64_t here = placer_.bounds().bound(id, domain).fits_at_most;
        closest == nullptr || here > fits) {
      closest = &domain;
      fits = here;
    }
  // No domain takes a single pod, so none comes closest: the nodes of all of them speak.
  if (fits == 0 && item.confining_key())
    if (std::string text = nobody_fits(id, domains); !text.empty()) return text;
  const std::string where = describe(id, *closest);
  if (fits >= needed) {
    const std::string tail =
        is_unresolved(id)
            ? fmt::format("no way to place them together was found in {} steps", placer_.steps())
            : std::string("together they do not fit");
    return fmt::format("{}each of {} pods fits alone, {}",
                       where.empty() ? "" : where + " comes closest: ", needed, tail);
  }
  return fmt::format("{}{} of {} fit; {}", where.empty() ? "" : where + " comes closest: ", fits,
                     count_of(needed, "pod"), shortage(id, *closest, needed));
}

std::string GroupReport::why_no_domain(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  const Topology& topology = workspace_.topology();
  const std::optional<std::size_t> key = item.confining_key();
  if (!key || topology.is_generated(*key) || !topology.split(topology.everywhere(), *key).empty())
    return "no feasible placements found";
  return fmt::format("no feasible placements found: no node has the label {}", tree_.keys[*key]);
}

// By the class that most pods are of. Empty if single pods would fit after all, side by side with
// nobody: then totals are short, and the closest domain says of what.
std::string GroupReport::nobody_fits(std::uint32_t id, std::span<const Domain> domains) const {
  const GroupTree::Item& item = tree_.items[id];
  const auto most = std::ranges::max_element(item.classes_below);
  const auto s = static_cast<std::size_t>(most - item.classes_below.begin());
  std::vector<NodeId> nodes;
  for (const Domain& domain : domains)
    for (const CellId cell : domain.cells)
      nodes.insert(nodes.end(), workspace_.topology().nodes(cell).begin(),
                   workspace_.topology().nodes(cell).end());
  const Standing& standing = workspace_.standing(s);
  if (const auto& everywhere = standing.refused_everywhere())
    return fmt::format("0/{} nodes are available: {}", nodes.size(), everywhere->reason);
  const Histogram reasons = why_not(standing, nodes);
  if (reasons.reasons.empty()) return "";
  std::string text = reasons.text(nodes.size());
  text.pop_back();  // the full stop
  return text;
}

// What the pods that find no room there lack, by the class that lacks the most.
std::string GroupReport::shortage(std::uint32_t id, const Domain& domain, std::int64_t needed) {
  const GroupTree::Item& item = tree_.items[id];
  std::uint32_t worst = 0;
  std::int64_t most = -1;
  for (std::uint32_t s = 0; s < tree_.standings.size(); ++s) {
    if (item.classes_below[s] == 0) continue;
    const std::int64_t wanted = std::min<std::int64_t>(item.classes_below[s], needed);
    if (const std::int64_t lacking = wanted - workspace_.cap_sum(s, domain); lacking > most) {
      worst = s;
      most = lacking;
    }
  }
  if (most <= 0) return short_in_total(id, domain, needed);
  return scarcest(worst, domain, std::min<std::int64_t>(item.classes_below[worst], needed));
}

// Each class alone would fit; all of them together ask for more than there is of something.
std::string GroupReport::short_in_total(std::uint32_t id, const Domain& domain,
                                        std::int64_t needed) {
  const GroupTree::Item& item = tree_.items[id];
  const Workspace::Totals totals = workspace_.totals(domain);
  for (std::size_t t = 0; t < totals.amounts.size(); ++t) {
    std::int64_t wanted = 0;
    for (std::size_t s = 0; s < tree_.standings.size(); ++s)
      wanted += item.classes_below[s] * workspace_.wanted(s, t);
    if (wanted > totals.amounts[t].free)
      return "short of " + amount_text(workspace_.cluster().resource(workspace_.tracked()[t]).name,
                                       wanted - totals.amounts[t].free);
  }
  return fmt::format("short of {} pod slots", needed - totals.slots);
}

// The resource of which the fewest pods find room in the domain, each resource looked at alone. A
// lower bound of what is missing: pods may also be short of two resources on different nodes.
std::string GroupReport::scarcest(std::uint32_t class_index, const Domain& domain,
                                  std::int64_t needed) {
  const Cluster& cluster = workspace_.cluster();
  const Standing& standing = workspace_.standing(class_index);
  const PodClass& pods = standing.pods();
  std::vector<NodeId> nodes;
  for (const CellId cell : domain.cells)
    nodes.insert(nodes.end(), workspace_.topology().nodes(cell).begin(),
                 workspace_.topology().nodes(cell).end());
  const PodClass::Want* scarce = nullptr;
  std::int64_t least = needed;
  for (const PodClass::Want& want : pods.wants) {
    const ResourceColumns& columns = cluster.resource(want.resource);
    if (standing.profile().settings().ignored.contains(columns.name)) continue;
    std::int64_t room = 0;
    for (const NodeId node : nodes)
      room += std::max<std::int64_t>(0, columns.allocatable[node] - columns.requested[node]) /
              want.amount;
    if (room < least) {
      least = room;
      scarce = &want;
    }
  }
  // Room alone would do: the nodes refuse for another reason, or several resources are short on
  // different nodes.
  if (scarce == nullptr || workspace_.cap_sum(class_index, domain) == 0)
    if (Histogram reasons = why_not(workspace_.standing(class_index), nodes);
        !reasons.reasons.empty()) {
      std::string text = reasons.text(nodes.size());
      if (text.ends_with('.')) text.pop_back();
      if (workspace_.cap_sum(class_index, domain) == 0) return text;
      return "on the rest of its nodes" + text.substr(text.find(':'));
    }
  const std::int64_t lacking = needed - workspace_.cap_sum(class_index, domain);
  if (scarce == nullptr) return fmt::format("short of room for {}", lacking);
  return fmt::format("short of {} × {}", lacking,
                     amount_text(cluster.resource(scarce->resource).name, scarce->amount));
}

// Whether those of its pods that have a place meet the minimum.
bool GroupReport::runs_already(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  if (item.is_leaf()) return item.missing() == 0;
  return std::ranges::count_if(item.children, [this](std::uint32_t child) {
           return runs_already(child);
         }) >= item.minimum;
}

// How many of the pods that it needs have room, if that is what is missing; with room for all of
// them it is the children's own domains that do not go together.
std::string GroupReport::short_together(std::uint32_t id, std::int64_t fits) const {
  const std::int64_t needed = pods_needed(id);
  return fits < needed ? fmt::format(": {} of {} do", fits, count_of(needed, "pod"))
                       : std::string();
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
  const Domain* closest = nullptr;
  DomainBound best;
  for (const Domain& domain : domains)
    if (const DomainBound here = placer_.bounds().bound(id, domain);
        closest == nullptr || here.ready > best.ready ||
        (here.ready == best.ready && here.fits_at_most > best.fits_at_most)) {
      closest = &domain;
      best = here;
    }
  const std::string where = describe(id, *closest);
  std::string text = where.empty() ? "" : where + " comes closest: ";
  if (runs_already(id)) {
    // Nothing is missing: the first of those that wait beyond the minimum speaks.
    for (const std::uint32_t child : item.children)
      if (tree_.items[child].queued_below > 0)
        return fmt::format("{}{}: {}", text, tree_.items[child].group->key.name,
                           why(child, *closest));
  }
  if (best.ready >= item.minimum) {
    text += is_unresolved(id)
                ? fmt::format(
                      "each of {} groups fits alone, no way to place them together was found in {} "
                      "steps",
                      item.minimum, placer_.steps())
                : fmt::format("each of {} groups fits alone, together they do not fit{}",
                              item.minimum, short_together(id, best.fits_at_most));
    return text;
  }
  text += fmt::format("{} of {} fit", best.ready, count_of(item.minimum, "group"));
  for (const std::uint32_t child : item.children)
    if (!placer_.bounds().can_meet_minimum(child, *closest)) {
      text += fmt::format("; {}: {}", tree_.items[child].group->key.name, why(child, *closest));
      break;
    }
  return text;
}

Outcome GroupReport::outcome(std::uint32_t id, const Domain& within) {
  if (is_hopeless(id, within)) return Outcome::Unresolvable;
  return is_unresolved(id) && placer_.bounds().can_meet_minimum(id, within)
             ? Outcome::Unresolved
             : Outcome::Unschedulable;
}

// KEP-6012's arithmetic: unresolvable if even with everything evictable gone, in no placement, the
// minimum could be met. Pods that are not there, and static refusals, are beyond eviction. A group
// that insists on a preferred domain will not do so for long.
bool GroupReport::is_hopeless(std::uint32_t id, const Domain& within) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.insists) return false;
  const std::span<const Domain> domains = placer_.bounds().widest(id, within);
  return std::ranges::all_of(domains, [&](const Domain& domain) {
    return status_of(item.minimum, if_others_left(id, domain)) ==
           PlacementStatus::UnschedulableAndUnresolvable;
  });
}

PlacementProgress GroupReport::if_others_left(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  PlacementProgress progress;
  if (!item.is_leaf()) {
    for (const std::uint32_t child : item.children)
      ++(is_hopeless(child, domain) ? progress.unresolvable : progress.unschedulable);
    return progress;
  }
  progress.scheduled = item.held;
  if (item.missing() == 0) return progress;
  for (std::size_t s = 0; s < tree_.standings.size(); ++s) {
    const bool is_open = std::ranges::any_of(
        domain.cells, [&](CellId cell) { return open_[s][index_of(cell)] != 0; });
    (is_open ? progress.unschedulable : progress.unresolvable) += item.classes_below[s];
  }
  return progress;
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
