#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explain/cluster_map.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

constexpr std::int64_t kUnitsMax = 16;   // a node with more units is drawn to scale
constexpr std::size_t kScaledWidth = 8;  // of such a node
constexpr std::size_t kFoldMin = 3;      // siblings that look alike and share a line
constexpr std::size_t kTenantsMax = 24;  // named below the map
constexpr std::size_t kBranchWidth = 3;  // of a level of the tree
constexpr std::size_t kAnyWidth = 160;   // if nobody says how wide the terminal is
constexpr std::size_t kNoTenant = ~std::size_t{0};

// What one place on the map shows: a letter and whose it is.
struct Mark {
  std::string_view text;
  std::size_t tenant = kNoTenant;
};

// A line of the map before it is aligned.
struct Line {
  std::size_t depth = 0;
  std::string title;
  std::string amounts;
  std::vector<std::vector<Mark>> cells = {};  // parts that belong together
  std::string rest = {};
};

class Drawing {
 public:
  Drawing(const ClusterMap& map, const MapStyle& style) : map_(map), style_(style) {}

  std::string draw() {
    std::vector<Line> lines;
    const std::size_t depth = choose_depth(lines);
    std::string out = head();
    write(lines, out);
    if (!asked_depth() && depth < map_.levels.size())
      out += fmt::format("(folded: --depth {} shows more)\n", word_of(map_.levels[depth]));
    write_legend(out);
    return out;
  }

 private:
  // 1 is the first level, and one more than there are levels means nodes.
  std::optional<std::size_t> asked_depth() const {
    if (style_.depth.empty()) return std::nullopt;
    for (std::size_t i = 0; i < map_.levels.size(); ++i)
      if (style_.depth == map_.levels[i] || style_.depth == word_of(map_.levels[i])) return i + 1;
    return map_.levels.size() + 1;
  }

  // Draws as deep as was asked for, or as fits: first whole domains that are all free, or all one
  // tenant's, are drawn as one line, then the lowest level is left out.
  std::size_t choose_depth(std::vector<Line>& lines) {
    const auto try_depth = [&](std::size_t depth, bool folds) {
      folds_ = folds;
      lines.clear();
      walk(map_.all, 0, depth, lines);
      // The head, the legend and a prompt take their lines, too.
      const std::size_t others = 6 + std::min(map_.tenants.size(), kTenantsMax);
      return style_.height == 0 || lines.size() + others <= style_.height;
    };
    if (const auto asked = asked_depth()) {
      try_depth(*asked, false);
      return *asked;
    }
    for (std::size_t depth = std::max<std::size_t>(map_.levels.size(), 1);; --depth)
      if (try_depth(depth, false) || try_depth(depth, true) || depth == 1) return depth;
  }

  std::string amount(std::int64_t value) const { return fmt::format("{}", value / map_.unit); }
  std::string used_of(const Usage& usage) const {
    return fmt::format("{}/{}", amount(usage.used), amount(usage.total));
  }

  std::string head() const {
    const Usage& all = map_.all.usage;
    std::string text =
        fmt::format("{}; {}: {} of {} used, {} free", count_of(map_.all.node_count, "node"),
                    map_.resource, amount(all.used), amount(all.total), amount(all.free()));
    if (map_.empty_nodes > 0)
      text += fmt::format(", {} of them on {}", amount(map_.free_on_empty),
                          count_of(map_.empty_nodes, "empty node"));
    text += "\n";
    if (map_.waiting > 0)
      text += fmt::format("{} wait{} for a node: `muster explain` says why\n",
                          count_of(map_.waiting, "pod"), map_.waiting == 1 ? "s" : "");
    return text + "\n";
  }

  // Lines for the domains of `level` and below, down to `depth`.
  void walk(const MapDomain& domain, std::size_t level, std::size_t depth,
            std::vector<Line>& lines) const {
    if (domain.domains.empty()) {
      if (level == 0 && depth == 1)
        lines.push_back(line_of(domain, 0));  // no levels at all
      else if (level < depth)
        add_nodes(domain, level, lines);
      return;
    }
    const bool is_lowest = level + 1 == depth;
    for (std::size_t i = 0; i < domain.domains.size();) {
      const MapDomain& child = domain.domains[i];
      const std::size_t alike = count_alike(std::span(domain.domains).subspan(i));
      if (is_lowest ? alike >= kFoldMin : folds_ && alike > 0) {
        lines.push_back(folded(std::span(domain.domains).subspan(i, alike), level));
        i += alike;
        continue;
      }
      lines.push_back(is_lowest ? line_of(child, level) : title_of(child, level));
      if (!is_lowest) walk(child, level + 1, depth, lines);
      ++i;
    }
  }

  void add_nodes(const MapDomain& domain, std::size_t level, std::vector<Line>& lines) const {
    for (const MapNode& node : domain.nodes) {
      Line line{.depth = level, .title = node.name, .amounts = used_of(node.usage)};
      line.cells.push_back(units_of(node));
      if (node.closed) line.rest = "closed";
      lines.push_back(std::move(line));
    }
  }

  std::string title_text(std::string_view name, std::size_t level) const {
    if (level >= map_.levels.size()) return "all nodes";
    return fmt::format("{} {}", word_of(map_.levels[level]), name);
  }

  Line title_of(const MapDomain& domain, std::size_t level) const {
    return {
        .depth = level, .title = title_text(domain.name, level), .amounts = used_of(domain.usage)};
  }

  Line line_of(const MapDomain& domain, std::size_t level) const {
    Line line = title_of(domain, level);
    const std::size_t room = (style_.width == 0 ? kAnyWidth : style_.width);
    const std::size_t taken = kBranchWidth * level + 34;
    const std::size_t width = room > taken + 10 ? room - taken : 10;
    for (const MapNode& node : domain.nodes) line.cells.push_back(units_of(node));
    std::size_t needed = 0;
    for (const auto& cell : line.cells) needed += cell.size() + 1;
    if (!line.cells.empty() && needed <= width) return line;
    // One mark for each node or domain, then a bar.
    line.cells.assign(1, {});
    for (const MapNode& node : domain.nodes)
      line.cells.front().push_back(mark_of(node.usage, node.closed));
    for (const MapDomain& child : domain.domains)
      line.cells.front().push_back(mark_of(child.usage, false));
    if (line.cells.front().size() > width) line.cells.front() = scaled(domain.usage, width, ".");
    return line;
  }

  // How many of the first domains are all free, or all used up by one and the same tenant.
  static std::size_t count_alike(std::span<const MapDomain> domains) {
    const auto sole = [](const MapDomain& domain) -> std::optional<std::size_t> {
      if (domain.usage.total == 0) return std::nullopt;
      if (domain.usage.used == 0 && domain.usage.by_tenant.empty()) return kNoTenant;
      if (domain.usage.by_tenant.size() == 1 && domain.usage.used == domain.usage.total)
        return domain.usage.by_tenant.front().first;
      return std::nullopt;
    };
    const auto first = sole(domains.front());
    if (!first) return 0;
    std::size_t count = 1;
    while (count < domains.size() && sole(domains[count]) == first &&
           domains[count].node_count == domains.front().node_count)
      ++count;
    return count;
  }

  Line folded(std::span<const MapDomain> domains, std::size_t level) const {
    Usage usage;
    for (const MapDomain& domain : domains) usage.add(domain.usage);
    const std::string names =
        domains.size() == 1 ? domains.front().name
                            : fmt::format("{} … {}", domains.front().name, domains.back().name);
    Line line{.depth = level, .title = title_text(names, level), .amounts = used_of(usage)};
    if (domains.size() > 1)
      line.rest = count_of(std::ssize(domains), word_of(map_.levels[level])) + ", ";
    line.rest += usage.used == 0
                     ? std::string("all free")
                     : fmt::format("all {}", map_.tenants[usage.by_tenant.front().first].sign);
    return line;
  }

  Mark mark(std::size_t tenant) const {
    return {std::string_view(&map_.tenants[tenant].sign, 1), tenant};
  }

  // A mark for each unit of a node, or for a part of it.
  std::vector<Mark> units_of(const MapNode& node) const {
    const std::string_view free = node.closed ? "x" : ".";
    const std::int64_t total = node.usage.total / map_.unit;
    if (total == 0) return {Mark{"-"}};
    if (total > kUnitsMax || map_.unit != 1) {
      const auto width = static_cast<std::size_t>(std::min<std::int64_t>(total, kScaledWidth));
      return scaled(node.usage, width, free);
    }
    std::vector<Mark> marks;
    for (const auto& [tenant, units] : node.usage.by_tenant)
      for (std::int64_t i = 0; i < units && std::ssize(marks) < total; ++i)
        marks.push_back(mark(tenant));
    marks.resize(static_cast<std::size_t>(total), Mark{free});
    return marks;
  }

  // A bar: every user of a share gets at least one mark while there are any left.
  std::vector<Mark> scaled(const Usage& usage, std::size_t width, std::string_view free) const {
    std::vector<Mark> marks;
    if (usage.total == 0) return {Mark{"-"}};
    for (const auto& [tenant, amount] : usage.by_tenant) {
      if (amount == 0) continue;
      const auto share = static_cast<std::size_t>(
          std::max<std::int64_t>(1, amount * static_cast<std::int64_t>(width) / usage.total));
      for (std::size_t i = 0; i < share && marks.size() < width; ++i) marks.push_back(mark(tenant));
    }
    marks.resize(width, Mark{free});
    return marks;
  }

  // One mark for a whole node or domain.
  Mark mark_of(const Usage& usage, bool closed) const {
    if (usage.total == 0) return {"-"};
    if (usage.used == 0) return {closed ? "x" : "."};
    const auto most = std::ranges::max_element(usage.by_tenant, {},
                                               [](const auto& entry) { return entry.second; });
    if (2 * most->second >= usage.total) return mark(most->first);
    return {usage.free() == 0 ? "#" : "%"};
  }

  void write(const std::vector<Line>& lines, std::string& out) const {
    std::vector<std::size_t> depths;
    std::size_t titles = 0;
    std::size_t amounts = 0;
    for (const Line& line : lines) {
      depths.push_back(line.depth);
      titles = std::max(titles, kBranchWidth * line.depth + width_of(line.title));
      amounts = std::max(amounts, line.amounts.size());
    }
    const std::vector<std::string> guides = branches(depths);
    for (std::size_t at = 0; at < lines.size(); ++at) {
      const Line& line = lines[at];
      std::string text = padded(guides[at] + line.title, titles) + "  " +
                         std::string(amounts - line.amounts.size(), ' ') + line.amounts + " ";
      for (const auto& cell : line.cells) {
        text += ' ';
        for (const Mark& mark : cell) text += paint(mark);
      }
      if (!line.rest.empty()) text += " " + line.rest;
      while (text.ends_with(' ')) text.pop_back();
      out += text + "\n";
    }
  }

  // The colours of a tenant: letters on a coloured ground, so that gangs are shapes.
  std::string paint(const Mark& mark) const {
    constexpr std::array<int, 12> kGrounds = {44, 42, 45, 46, 43, 41, 104, 102, 105, 106, 103, 101};
    if (!style_.colours) return std::string(mark.text);
    if (mark.tenant == kNoTenant) return fmt::format("\033[2m{}\033[0m", mark.text);
    if (map_.tenants[mark.tenant].name.empty()) return fmt::format("\033[7m{}\033[0m", mark.text);
    return fmt::format("\033[30;{}m{}\033[0m", kGrounds[mark.tenant % kGrounds.size()], mark.text);
  }

  void write_legend(std::string& out) const {
    out += "\n";
    std::size_t width = 0;
    const std::size_t shown = std::min(map_.tenants.size(), kTenantsMax);
    const auto name_of = [](const Tenant& tenant) {
      return tenant.name.empty() ? std::string("pods outside groups") : tenant.name;
    };
    for (std::size_t i = 0; i < shown; ++i)
      width = std::max(width, width_of(name_of(map_.tenants[i])));
    for (std::size_t i = 0; i < shown; ++i) {
      const Tenant& tenant = map_.tenants[i];
      out += fmt::format("{} {}  {}, {} {} on {}\n", paint(mark(i)), padded(name_of(tenant), width),
                         count_of(tenant.pods, "pod"), amount(tenant.amount),
                         word_of(map_.resource), count_of(tenant.nodes, "node"));
    }
    if (shown < map_.tenants.size())
      out += fmt::format("  and {} more\n", map_.tenants.size() - shown);
    out += ". free  x closed to new pods  - has none  % partly, # wholly used by several\n";
  }

  const ClusterMap& map_;
  const MapStyle& style_;
  bool folds_ = false;  // domains above the lowest level, too
};

}  // namespace

std::string render_map(const ClusterMap& map, const MapStyle& style) {
  if (map.all.node_count == 0) return "There are no nodes.\n";
  return Drawing(map, style).draw();
}

}  // namespace muster::explain
