#include "sim/scenario/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/entropy.h"

namespace muster::sim {
namespace {

constexpr int kStepsMin = 6;
constexpr int kStepsMore = 20;

// Writes one scenario, keeping track of who is there so that every step makes sense.
class Author {
 public:
  explicit Author(std::uint64_t seed) : entropy_(seed) {}

  std::string write() {
    write_cluster();
    const int steps = kStepsMin + pick(kStepsMore);
    for (int i = 0; i < steps; ++i) {
      write_step();
      if (chance(2, 3)) text_ += "cycle\n";
    }
    // Long enough for everything to be tried once more although nothing has happened.
    // And a scheduler that knows only what the API says must come to the same end.
    text_ += "cycle\nwait 20s\nwait 6m\n  nobody placed\n";
    text_ += "restart scheduler\nwait 20s\n  nobody placed\n";
    return std::move(text_);
  }

 private:
  struct Group {
    std::string path;
    bool is_leaf = true;
    bool is_gang = true;
  };

  int pick(int below) {
    return static_cast<int>(entropy_.below(static_cast<std::uint64_t>(below)));
  }
  bool chance(int good, int of) { return pick(of) < good; }
  template <typename T>
  const T& any(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(pick(static_cast<int>(from.size())))];
  }
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void write_cluster() {
    text_ += "cluster\n";
    for (int block = 1; block <= 1 + pick(2); ++block)
      for (int rack = 1; rack <= 1 + pick(3); ++rack)
        // Rack names repeat in every block, as they do in real halls.
        line("  zone z{}  block b{}  rack r{}  {}", 1 + pick(2), block, rack,
             new_nodes(1 + pick(3)));
  }

  std::string new_nodes(int count) {
    std::string names;
    for (int i = 0; i < count; ++i) {
      nodes_.push_back(fmt::format("n{}", ++node_number_));
      names += " " + nodes_.back();
    }
    return fmt::format("nodes{}  cpu={}{}", names, 1 + pick(4), chance(1, 4) ? "  pods=2" : "");
  }

  void write_step() {
    using Step = void (Author::*)();
    constexpr std::pair<Step, int> kSteps[] = {
        {&Author::submit_pod, 2},   {&Author::submit_leaf, 5}, {&Author::submit_tree, 4},
        {&Author::leave, 5},        {&Author::change_node, 5}, {&Author::add_node, 2},
        {&Author::change_group, 4}, {&Author::send_late, 4},   {&Author::pass_time, 1}};
    int total = 0;
    for (const auto& [step, weight] : kSteps) total += weight;
    int at = pick(total);
    for (const auto& [step, weight] : kSteps) {
      if (at < weight) return (this->*step)();
      at -= weight;
    }
  }

  std::string pod_words() {
    return fmt::format("pods={}  cpu={}{}{}", 1 + pick(4), 1 + pick(2),
                       chance(1, 10) ? "  tolerates=spot" : "", chance(1, 12) ? "  gated" : "");
  }
  std::string level() {
    constexpr const char* kLevels[] = {"",
                                       "",
                                       "  within=zone",
                                       "  within=block",
                                       "  within=rack",
                                       "  within=rack",
                                       "  within=host"};
    return kLevels[pick(7)];
  }
  std::string priority() { return chance(1, 4) ? fmt::format("  priority={}", 1 + pick(3)) : ""; }
  std::string verb() { return chance(1, 3) ? "define" : "submit"; }

  void submit_pod() {
    lone_.push_back(fmt::format("p{}", ++number_));
    line("submit pod {}  cpu={}{}", lone_.back(), 1 + pick(3), priority());
  }

  void submit_leaf() {
    const std::string name = fmt::format("g{}", ++number_);
    const bool gang = chance(4, 5);
    const std::string how = verb();
    const std::string minimum = gang && chance(1, 3) ? "  min=1" : "";
    line("{} {} {}  {}{}{}{}", how, gang ? "gang" : "basic", name, pod_words(), minimum, level(),
         priority());
    add_shapes();
    groups_.push_back({name, true, gang});
    if (how == "define") late_.push_back(name);
  }

  void add_shapes() {
    if (!chance(1, 4)) return;
    line("  shape a  pods={}  cpu=1", 1 + pick(2));
    line("  shape b  pods={}  cpu={}", 1 + pick(2), 2 + pick(2));
  }

  void submit_tree() {
    const std::string name = fmt::format("w{}", ++number_);
    const std::string how = verb();
    line("{} workload {}{}{}{}", how, name, chance(1, 2) ? "  min=1" : "", level(), priority());
    groups_.push_back({name, false, true});
    for (int child = 1; child <= 1 + pick(3); ++child) {
      if (chance(1, 5)) {
        const std::string path = fmt::format("{}/c{}", name, child);
        line("  composite c{}{}", child, level());
        line("    gang x  {}{}", pod_words(), level());
        groups_.push_back({path, false, true});
        groups_.push_back({path + "/x", true, true});
      } else {
        const bool gang = chance(4, 5);
        line("  {} c{}  {}{}", gang ? "gang" : "basic", child, pod_words(), level());
        groups_.push_back({fmt::format("{}/c{}", name, child), true, gang});
      }
    }
    if (how == "define") late_.push_back(name);
  }

  void leave() {
    std::vector<std::string> names = lone_;
    for (const Group& group : groups_) names.push_back(group.path);
    if (names.empty()) return;
    const std::string name = any(names);
    constexpr const char* kVerbs[] = {"finish", "fail", "delete pods", "delete"};
    const int verb = pick(4);
    line("{} {}", kVerbs[verb], name);
    if (verb == 2) std::erase(lone_, name);
    if (verb < 3) return;
    // With the subtree all its names are gone, and what was not sent yet is not to be sent.
    const auto is_gone = [&](const std::string& path) {
      return path == name || path.starts_with(name + "/");
    };
    std::erase_if(lone_, is_gone);
    std::erase_if(groups_, [&](const Group& group) { return is_gone(group.path); });
    std::erase_if(late_, is_gone);
  }

  void change_node() {
    const std::string& node = any(nodes_);
    switch (pick(7)) {
      case 0: return line("cordon {}", node);
      case 1: return line("uncordon {}", node);
      case 2: return line("taint {} spot:NoSchedule", node);
      case 3: return line("untaint {} spot", node);
      case 4: return line("label {} rack=r{}", node, 1 + pick(3));
      case 5: return line("unlabel {} rack", node);
      default: return line("label {} block=b{}", node, 1 + pick(2));
    }
  }

  void add_node() {
    if (chance(1, 4) && nodes_.size() > 2) {
      line("remove node {}", nodes_.back());
      nodes_.pop_back();
      return;
    }
    line("add zone z{}  block b{}  rack r{}  {}", 1 + pick(2), 1 + pick(2), 1 + pick(3),
         new_nodes(1));
  }

  void change_group() {
    if (groups_.empty()) return;
    const Group& group = any(groups_);
    if (std::ranges::find(late_, group.path.substr(0, group.path.find('/'))) != late_.end()) return;
    if (chance(1, 3)) return line("ungate {}", group.path);
    if (group.is_gang && chance(1, 2)) return line("set {} min={}", group.path, 1 + pick(3));
    if (group.is_leaf) line("scale {} pods={}", group.path, 1 + pick(5));
  }

  // What was only defined comes piece by piece, in any order.
  void send_late() {
    if (late_.empty()) return;
    const auto at = static_cast<std::size_t>(pick(static_cast<int>(late_.size())));
    const std::string name = late_[at];
    switch (pick(4)) {
      case 0: return line("send pods {}", name);
      case 1: return line("send group {}", name);
      case 2: return line("send pods {} 2", name);
      default: break;
    }
    line("send rest {}", name);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void pass_time() { line("wait {}s", 1 + pick(30)); }

  SeededEntropy entropy_;
  std::string text_;
  std::vector<std::string> nodes_;
  int node_number_ = 0;
  int number_ = 0;
  std::vector<std::string> lone_;
  std::vector<Group> groups_;
  std::vector<std::string> late_;  // defined, not wholly sent
};

// The steps of a text, each with what is indented under it.
std::vector<std::string> split_steps(std::string_view text) {
  std::vector<std::string> steps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (steps.empty() || !line.starts_with(' '))
      steps.emplace_back(line);
    else
      steps.back() += line;
    text.remove_prefix(end);
  }
  return steps;
}

}  // namespace

std::string make_scenario(std::uint64_t seed) { return Author(seed).write(); }

std::string shrink_scenario(std::string text,
                            const std::function<bool(const std::string&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const std::vector<std::string> steps = split_steps(text);
    for (std::size_t without = steps.size(); without-- > 1;) {
      std::string shorter;
      for (std::size_t i = 0; i < steps.size(); ++i)
        if (i != without) shorter += steps[i];
      if (!fails(shorter)) continue;
      text = std::move(shorter);
      smaller = true;
      break;
    }
  }
  return text;
}

}  // namespace muster::sim
