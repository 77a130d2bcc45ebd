#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/render.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using scheduler::GroupKind;

constexpr std::size_t kNodesShown = 16;
constexpr std::size_t kAheadShown = 5;

std::string noun_of(const Level& level) {
  return level.key.kind == GroupKind::PodGroup ? "pod" : "group";
}

// What stands beside the lines below a branch: "│  │  ".
std::string beside(std::string branch, bool has_children) {
  for (const auto& [from, to] : {std::pair("├─ ", "│  "), std::pair("└─ ", "   ")})
    if (const std::size_t at = branch.find(from); at != std::string::npos)
      branch.replace(at, std::string_view(from).size(), to);
  return branch + (has_children ? "│  " : "   ");
}

std::string minimum_text(const Level& level) {
  if (!level.gang) return "basic";
  return fmt::format("at least {}", level.minimum);
}

struct Row {
  std::string name, state, members, rest;
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// The row above all trees; how it stands is how the first that waits does.
Row owner_row(const Explanation& about) {
  const OwnerLine& owner = *about.owner;
  return {.name = fmt::format("{}/{}", lower(owner.kind), owner.name),
          .state = std::string(state_word(about.state)),
          .members = fmt::format("{} of {}", owner.scheduled, count_of(owner.groups, "group")),
          .rest = ""};
}

void write_tree(const Explanation& about, std::string& out) {
  const std::vector<Level>& tree = about.tree;
  if (tree.empty()) return;
  const std::size_t above = about.owner ? 1 : 0;
  std::vector<Row> rows;
  std::vector<std::size_t> depths(above, 0);
  for (const Level& level : tree) depths.push_back(static_cast<std::size_t>(level.depth) + above);
  std::vector<std::string> lines = branches(depths);
  if (about.owner) rows.push_back(owner_row(about));
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(above));
  for (std::size_t at = 0; at < tree.size(); ++at) {
    const Level& level = tree[at];
    Row row;
    row.name = lines[at] +
               fmt::format("{}/{}{}",
                           level.key.kind == GroupKind::PodGroup ? "podgroup" : "compositepodgroup",
                           level.key.name, level.is_subject && tree.size() > 1 ? " *" : "");
    row.state = state_word(level.state);
    row.members = fmt::format("{} of {}", level.scheduled, count_of(level.total, noun_of(level)));
    row.rest = minimum_text(level);
    if (level.is_confined())
      row.rest += fmt::format(", in one {}{}", domain_word(level),
                              level.domain.empty() ? "" : " (" + level.domain + ")");
    rows.push_back(std::move(row));
  }
  std::size_t names = 0;
  std::size_t states = 0;
  std::size_t members = 0;
  for (const Row& row : rows) {
    names = std::max(names, width_of(row.name));
    states = std::max(states, row.state.size());
    members = std::max(members, row.members.size());
  }
  const auto subject = std::ranges::find(tree, true, &Level::is_subject);
  out += "\nTree: state, scheduled, minimum\n";
  const auto write = [&](const Row& row) {
    std::string line =
        fmt::format("  {}  {}  {}  {}", padded(row.name, names), padded(row.state, states),
                    padded(row.members, members), row.rest);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  if (about.owner) write(rows.front());
  for (std::size_t at = 0; at < tree.size(); ++at) {
    write(rows[at + above]);
    const Level& level = tree[at];
    // A fault of the tree is every level's; the first line has said it.
    const bool is_said = level.is_subject || (subject != tree.end() && level.why == subject->why &&
                                              level.state == State::Invalid);
    const bool has_children = at + 1 < tree.size() && tree[at + 1].depth > level.depth;
    if (!level.why.empty() && !is_said)
      out += fmt::format("  {}{}\n", beside(lines[at], has_children), level.why);
  }
  if (about.owner && about.owner->left_out > 0)
    out += fmt::format("  and {}\n", count_of(about.owner->left_out, "more group"));
}

void write_closest(const std::vector<Level>& tree, std::string& out) {
  bool titled = false;
  for (const Level& level : tree) {
    if (level.closest.empty()) continue;
    if (!titled) out += "\nClosest\n";
    titled = true;
    const std::string_view word = domain_word(level);
    if (level.closest.front().fits == 0) {
      out += fmt::format("  {}: none of {} fits any of {}\n", level.key.name,
                         count_of(level.domains, word),
                         count_of(level.closest.front().needed, noun_of(level)));
      continue;
    }
    for (const Closeness& close : level.closest) {
      const std::string needed = count_of(close.needed, noun_of(level));
      // Counted one by one; that all are there does not mean that they fit side by side.
      out += close.fits < close.needed
                 ? fmt::format("  {}: {} {} fits {} of {}\n", level.key.name, word, close.domain,
                               close.fits, needed)
                 : fmt::format("  {}: {} {} fits each of {} alone, not all together\n",
                               level.key.name, word, close.domain, needed);
    }
    if (level.domains > static_cast<std::int64_t>(level.closest.size()))
      out += fmt::format(
          "  {}: {} fit no more than that\n", level.key.name,
          count_of(level.domains - std::ssize(level.closest), fmt::format("more {}", word)));
  }
}

void write_reasons(const std::vector<NodeReasons>& reasons, std::string& out) {
  if (reasons.empty()) return;
  out += "\nNodes\n";
  for (const NodeReasons& reason : reasons) {
    std::vector<std::string> refusals;
    for (const auto& [text, nodes] : reason.refusals)
      refusals.push_back(fmt::format("{} {}", nodes, text));
    out += fmt::format("  {} like {}, asking for {}:\n", count_of(reason.pods, "pod"),
                       reason.sample, reason.asks_for);
    const std::string nodes =
        reason.where.empty() ? "nodes" : fmt::format("nodes of {}, where it runs,", reason.where);
    out += reason.accept == 0 ? fmt::format("    0/{} {} are available", reason.nodes, nodes)
                              : fmt::format("    {}/{} {} have room for at least one",
                                            reason.accept, reason.nodes, nodes);
    if (!refusals.empty()) out += fmt::format(": {}", fmt::join(refusals, ", "));
    out += ".\n";
  }
}

void write_ahead(const std::vector<std::string>& ahead, std::string& out) {
  if (ahead.empty()) return;
  out += "\nFirst in the queue\n";
  for (std::size_t i = 0; i < ahead.size() && i < kAheadShown; ++i)
    out += fmt::format("  {}\n", ahead[i]);
  if (ahead.size() > kAheadShown) out += fmt::format("  and {} more\n", ahead.size() - kAheadShown);
}

void write_placements(const Explanation& about, std::string& out) {
  if (about.placements.empty()) return;
  out += about.state == State::Scheduled ? "\nRuns on\n" : "\nWould run on\n";
  const std::size_t shown = std::min(about.placements.size(), kNodesShown);
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, about.placements[i].node.size());
  for (std::size_t i = 0; i < shown; ++i)
    out += fmt::format("  {:<{}}  {}\n", about.placements[i].node, width,
                       count_of(about.placements[i].pods, "pod"));
  if (shown < about.placements.size())
    out += fmt::format("  and {} more nodes\n", about.placements.size() - shown);
}

void write_relaxations(const Explanation& about, std::string& out) {
  if (!about.tried_relaxations) return;
  out += "\nWhat would help (each was checked by planning it)\n";
  for (const Relaxation& relaxation : about.relaxations) {
    out += fmt::format("  - {}\n", relaxation.sentence);
    if (!relaxation.command.empty()) out += fmt::format("      {}\n", relaxation.command);
  }
  if (about.relaxations.empty())
    out += fmt::format(
        "  nothing that was tried helps: {}open or more nodes, others finishing\n",
        about.tree.empty() ? "" : "a smaller minimum of one group or of two, a wider topology, ");
  if (!about.all_tried) out += "  (the budget ended before everything was tried)\n";
}

}  // namespace

std::string render_text(const Explanation& about) {
  std::string out = about.sentence + "\n";
  if (!about.proof.empty()) out += about.proof + "\n";
  if (!about.evictions.empty()) out += about.evictions + "\n";
  for (const std::string& sentence : about.no_such_label) out += "Note: " + sentence + "\n";
  if (!about.note.empty()) out += "Note: " + about.note + "\n";
  write_tree(about, out);
  write_ahead(about.ahead, out);
  write_closest(about.tree, out);
  write_reasons(about.reasons, out);
  write_placements(about, out);
  write_relaxations(about, out);
  return out;
}

}  // namespace muster::explain
