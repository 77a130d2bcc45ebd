#include "witness/case.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::scheduler::witness {
namespace {

std::string amounts(std::int64_t cpu, std::int64_t gpu) {
  return fmt::format("  cpu={}{}", cpu, gpu == 0 ? "" : fmt::format("  gpu={}", gpu));
}

std::string shape_text(const Case::Shape& shape, std::size_t count) {
  return fmt::format("  pods={}{}{}", count, amounts(shape.cpu, shape.gpu),
                     shape.tolerates ? "  tolerates" : "");
}

void write(const Case::Group& group, int depth, std::string& text) {
  const std::string margin(static_cast<std::size_t>(2 * depth), ' ');
  text += fmt::format("{}{} {}", margin,
                      group.composite ? "composite"
                      : group.gang    ? "gang"
                                      : "basic",
                      group.name);
  if (group.gang) text += fmt::format("  min={}", group.minimum);
  if (!group.key.empty()) text += "  within=" + group.key;
  std::vector<Case::Shape> run;
  const auto flush = [&] {
    if (!run.empty()) text += shape_text(run.front(), run.size());
    run.clear();
  };
  for (const Case::Shape& shape : group.pods) {
    if (!run.empty() && run.front() != shape) {
      flush();
      text += " ,";
    }
    run.push_back(shape);
  }
  flush();
  text += "\n";
  for (const Case::Group& child : group.children) write(child, depth + 1, text);
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <typename T>
  const T& any(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(of.size()) - 1))];
  }

 private:
  std::mt19937_64 random_;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : dice_(seed) {}

  Case make() {
    const bool is_uniform = dice_.chance(30);  // one kind of node and of pod: counting matters most
    const std::int64_t cpu = dice_.between(1, 4);
    for (std::int64_t i = dice_.between(1, 6); i > 0; --i) add_node(is_uniform ? cpu : 0);
    for (std::int64_t i = is_uniform ? 1 : dice_.between(1, 3); i > 0; --i)
      shapes_.push_back({.cpu = dice_.between(is_uniform ? 1 : 0, 3),
                         .gpu = dice_.chance(35) ? dice_.between(1, 2) : 0,
                         .tolerates = dice_.chance(20)});
    made_.root = group(dice_.chance(25) ? 1 : dice_.between(2, 3), "");
    if (dice_.chance(85)) tighten();
    return made_;
  }

 private:
  // Cuts or adds what the pods ask for in total until it is about what there is: where much is free
  // or little, every way to search is as good as any.
  void tighten() {
    const std::int64_t target =
        (dice_.chance(40) ? wanted(made_.root) : wanted_least(made_.root)) + dice_.between(-1, 2);
    for (int tries = 0; tries < 40; ++tries) {
      std::int64_t free = 0;
      for (const Case::Node& node : made_.nodes) free += node.cpu;
      for (const Case::Running& pod : made_.running) free -= pod.cpu;
      if (free == target) return;
      Case::Node& node = made_.nodes[static_cast<std::size_t>(
          dice_.between(0, static_cast<std::int64_t>(made_.nodes.size()) - 1))];
      if (free < target) ++node.cpu;
      if (free > target && node.cpu > 1) --node.cpu;
    }
  }
  static std::int64_t wanted_least(const Case::Group& group) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < group.pods.size() && static_cast<std::int64_t>(i) < group.minimum;
         ++i)
      sum += group.pods[i].cpu;
    for (const Case::Group& child : group.children) sum += wanted_least(child);
    return sum;
  }
  static std::int64_t wanted(const Case::Group& group) {
    std::int64_t sum = 0;
    for (const Case::Shape& pod : group.pods) sum += pod.cpu;
    for (const Case::Group& child : group.children) sum += wanted(child);
    return sum;
  }

  void add_node(std::int64_t cpu) {
    const std::string name = fmt::format("n{}", made_.nodes.size());
    Case::Node node{.name = name, .cpu = cpu > 0 ? cpu : dice_.between(1, 5)};
    node.gpu = dice_.chance(60) ? dice_.between(1, 3) : 0;
    if (dice_.chance(20)) node.slots = dice_.between(1, 3);
    // Equal names in different parents: a rack r1 in every block, a block x in every zone.
    const std::vector<std::pair<std::string, std::vector<std::string>>> keys{
        {"zone", {"a", "b"}}, {"block", {"x", "y"}}, {"rack", {"r1", "r2"}}, {"host", {name}}};
    for (const auto& [key, values] : keys)
      if (!dice_.chance(4)) node.labels[key] = dice_.any(values);
    node.tainted = dice_.chance(8);
    node.cordoned = dice_.chance(4);
    if (dice_.chance(35))
      made_.running.push_back({.name = "used-" + name,
                               .node = name,
                               .cpu = dice_.between(0, node.cpu),
                               .gpu = dice_.between(0, node.gpu)});
    made_.nodes.push_back(std::move(node));
  }

  Case::Group group(std::int64_t levels, const std::string& parent_key) {
    Case::Group group{.name = fmt::format("g{}", next_++)};
    group.gang = dice_.chance(85);
    group.key = key_below(parent_key);
    const bool is_composite = levels > 1;
    if (is_composite) {
      group.composite = true;
      const std::int64_t children = dice_.chance(15) ? 1 : dice_.between(2, 3);
      for (std::int64_t i = 0; i < children; ++i)
        group.children.push_back(
            group_again(levels - (dice_.chance(85) ? 1 : levels - 1), group.key, group.children));
      if (group.gang) group.minimum = dice_.chance(50) ? children : dice_.between(1, children);
    } else {
      fill_leaf(group);
    }
    return group;
  }

  // Now and then a sibling is the last one's twin.
  Case::Group group_again(std::int64_t levels, const std::string& key,
                          const std::vector<Case::Group>& siblings) {
    if (siblings.empty() || !dice_.chance(30) || pods_ + count(siblings.back()) > kPodsMax)
      return group(levels, key);
    Case::Group twin = siblings.back();
    rename(twin);
    pods_ += count(twin);
    return twin;
  }
  void rename(Case::Group& group) {
    group.name = fmt::format("g{}", next_++);
    for (Case::Group& child : group.children) rename(child);
  }
  static std::int64_t count(const Case::Group& group) {
    auto sum = static_cast<std::int64_t>(group.pods.size());
    for (const Case::Group& child : group.children) sum += count(child);
    return sum;
  }

  void fill_leaf(Case::Group& group) {
    const std::int64_t pods = std::min(dice_.between(dice_.chance(5) ? 0 : 2, 4), kPodsMax - pods_);
    pods_ += std::max<std::int64_t>(0, pods);
    for (std::int64_t i = 0; i < pods; ++i) group.pods.push_back(dice_.any(shapes_));
    std::int64_t held = 0;
    if (dice_.chance(20)) {
      made_.running.push_back({.name = "held-" + group.name,
                               .node = dice_.any(made_.nodes).name,
                               .cpu = dice_.between(0, 1),
                               .group = group.name,
                               .succeeded = dice_.chance(25)});
      ++held;
    }
    if (group.gang)
      group.minimum = std::max<std::int64_t>(
          1, dice_.between(1, std::max<std::int64_t>(1, pods + held)) + (dice_.chance(3) ? 1 : 0));
  }

  // Mostly a finer key than the parent's, sometimes any at all.
  std::string key_below(const std::string& parent) {
    static const std::vector<std::string> kKeys{"zone", "block", "rack", "host"};
    if (dice_.chance(30)) return "";
    if (dice_.chance(10)) return dice_.any(kKeys);
    std::vector<std::string> finer(kKeys);
    if (const auto at = std::ranges::find(finer, parent); at != finer.end())
      finer.erase(finer.begin(), at + 1);
    if (finer.empty()) return "";
    // A host is a small place: seldom first choice.
    return finer.size() > 1 && dice_.chance(80)
               ? finer[static_cast<std::size_t>(
                     dice_.between(0, static_cast<std::int64_t>(finer.size()) - 2))]
               : dice_.any(finer);
  }

  static constexpr std::int64_t kPodsMax = 9;
  Dice dice_;
  Case made_;
  std::vector<Case::Shape> shapes_;
  std::int64_t pods_ = 0;
  int next_ = 0;
};

// --- simpler cases ---

// Every tree in which one group was edited, if the edit applies.
void edit_each(const Case& from, const std::function<bool(Case::Group&)>& edit,
               std::vector<Case>& into) {
  std::size_t groups = 0;
  const std::function<void(const Case::Group&)> count = [&](const Case::Group& group) {
    ++groups;
    for (const Case::Group& child : group.children) count(child);
  };
  count(from.root);
  for (std::size_t target = 0; target < groups; ++target) {
    Case copy = from;
    std::size_t at = 0;
    bool applied = false;
    const std::function<void(Case::Group&)> visit = [&](Case::Group& group) {
      if (at++ == target) {
        applied = edit(group);
        return;
      }
      for (Case::Group& child : group.children) visit(child);
    };
    visit(copy.root);
    if (applied) into.push_back(std::move(copy));
  }
}

void simpler_groups(const Case& from, std::vector<Case>& into) {
  for (const Case::Group& child : from.root.children) {
    into.push_back(from);
    into.back().root = Case::Group(child);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    edit_each(
        from,
        [i](Case::Group& group) {
          if (group.children.size() < 2 || i >= group.children.size()) return false;
          group.children.erase(group.children.begin() + static_cast<std::ptrdiff_t>(i));
          group.minimum = std::min(group.minimum, static_cast<std::int64_t>(group.children.size()));
          return true;
        },
        into);
    edit_each(
        from,
        [i](Case::Group& group) {
          if (i >= group.pods.size()) return false;
          group.pods.erase(group.pods.begin() + static_cast<std::ptrdiff_t>(i));
          group.minimum = std::max<std::int64_t>(1, group.minimum - 1);
          return true;
        },
        into);
    edit_each(
        from,
        [i](Case::Group& group) {
          if (i >= group.pods.size() || group.pods[i].gpu == 0) return false;
          group.pods[i].gpu = 0;
          return true;
        },
        into);
  }
  edit_each(
      from,
      [](Case::Group& group) {
        const bool applies = !group.key.empty();
        group.key.clear();
        return applies;
      },
      into);
  edit_each(
      from,
      [](Case::Group& group) {
        if (group.minimum == 1) return false;
        --group.minimum;
        return true;
      },
      into);
}

void simpler_nodes(const Case& from, std::vector<Case>& into) {
  const auto edit = [&](std::size_t at, auto change) {
    into.push_back(from);
    change(into.back().nodes[at]);
  };
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const Case::Node& node = from.nodes[i];
    if (from.nodes.size() > 1) {
      into.push_back(from);
      into.back().nodes.erase(into.back().nodes.begin() + static_cast<std::ptrdiff_t>(i));
      std::erase_if(into.back().running, [&](const auto& pod) { return pod.node == node.name; });
    }
    if (node.tainted) edit(i, [](Case::Node& n) { n.tainted = false; });
    if (node.cordoned) edit(i, [](Case::Node& n) { n.cordoned = false; });
    if (node.slots != 110) edit(i, [](Case::Node& n) { n.slots = 110; });
    if (node.gpu > 0) edit(i, [](Case::Node& n) { --n.gpu; });
    if (node.cpu > 1) edit(i, [](Case::Node& n) { --n.cpu; });
    for (const auto& [key, value] : node.labels)
      edit(i, [&](Case::Node& n) { n.labels.erase(key); });
  }
}

}  // namespace

std::string Case::text() const {
  std::string text = "cluster\n";
  for (const Node& node : nodes) {
    text += " ";
    for (const char* key : {"zone", "block", "rack", "host"})
      if (const auto at = node.labels.find(key); at != node.labels.end())
        text += fmt::format(" {} {} ", key, at->second);
    text += fmt::format(" node {}{}", node.name, amounts(node.cpu, node.gpu));
    if (node.slots != 110) text += fmt::format("  pods={}", node.slots);
    text +=
        fmt::format("{}{}\n", node.tainted ? "  tainted" : "", node.cordoned ? "  cordoned" : "");
  }
  if (!running.empty()) text += "running\n";
  for (const Running& pod : running)
    text += fmt::format("  {}  on {}{}{}{}\n", pod.name, pod.node, amounts(pod.cpu, pod.gpu),
                        pod.group.empty() ? "" : "  group=" + pod.group,
                        pod.succeeded ? "  succeeded" : "");
  text += "submit\n";
  write(root, 1, text);
  return text;
}

Case random_case(std::uint64_t seed) { return Generator(seed).make(); }

std::vector<Case> simpler(const Case& from) {
  std::vector<Case> cases;
  simpler_groups(from, cases);
  simpler_nodes(from, cases);
  for (std::size_t i = 0; i < from.running.size(); ++i) {
    cases.push_back(from);
    cases.back().running.erase(cases.back().running.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return cases;
}

}  // namespace muster::scheduler::witness
