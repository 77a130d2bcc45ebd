#include "server/core/read/group_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "api/json.h"
#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

// A world of groups and pods in which anything may be anybody's parent, and what the book says of
// it. `naive_…` read the world again for each question, as deep as any valid tree is.
class GroupBookTest : public CoreTest {
 protected:
  static constexpr int kLevels = 4;

  struct Group {
    bool is_leaf = false;
    std::string parent = {};
    int minimum = 1;
    std::string topology = {};
    bool is_deleted = false;
  };
  struct Pod {
    std::string group, node, phase;
  };

  static api::ObjectPtr object_of(const std::string& name, const Group& group) {
    const api::Kind& kind =
        group.is_leaf ? api::kinds::pod_group() : api::kinds::composite_pod_group();
    return make(
        kind,
        fmt::format(
            R"({{"metadata":{{"name":"{}","namespace":"default"{}}},"spec":{{"parentCompositePodGroupName":"{}",)"
            R"("schedulingConstraints":{{"topology":[{{"key":"{}"}}]}},"schedulingPolicy":{{"gang":{{"{}":{}}}}}}}}})",
            name, group.is_deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
            group.parent, group.topology, group.is_leaf ? "minCount" : "minGroupCount",
            group.minimum));
  }
  static api::ObjectPtr object_of(const std::string& name, const Pod& pod) {
    return make(
        api::kinds::pod(),
        fmt::format(
            R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{"nodeName":"{}",)"
            R"("schedulingGroup":{{"podGroupName":"{}"}}}},"status":{{"phase":"{}"}}}})",
            name, pod.node, pod.group, pod.phase));
  }
  static api::ObjectPtr make(const api::Kind& kind, const std::string& text) {
    return api::Object::make(kind, api::parse_json(text).value().value);
  }

  template <typename What>
  void put(std::map<std::string, What>& all, const std::string& name, std::optional<What> what) {
    if (const auto old = all.find(name); old != all.end())
      book_.add(*object_of(name, old->second), -1);
    all.erase(name);
    if (!what) return;
    book_.add(*object_of(name, *what), +1);
    all[name] = *what;
  }
  void put_group(const std::string& name, std::optional<Group> group) {
    put(worlds_groups_, name, std::move(group));
  }
  void put_pod(const std::string& name, std::optional<Pod> pod) {
    put(worlds_pods_, name, std::move(pod));
  }
  api::GroupCounts count(const std::string& name) {
    return book_.count(*object_of(name, worlds_groups_.at(name)), *store_);
  }

  static bool is_lost(const Pod& pod) { return pod.phase == "Failed"; }
  static bool is_present(const Pod& pod) {
    return pod.phase == "Succeeded" || (!is_lost(pod) && !pod.node.empty());
  }
  template <typename Counts>
  std::int64_t naive_pods(const std::string& group, const Counts& counts) const {
    return std::ranges::count_if(worlds_pods_, [&](const auto& each) {
      return each.second.group == group && counts(each.second);
    });
  }
  template <typename Ask>
  std::int64_t naive_children(const std::string& name, const Ask& ask) const {
    std::int64_t sum = 0;
    for (const auto& [child, group] : worlds_groups_)
      if (group.parent == name) sum += ask(child);
    return sum;
  }
  std::int64_t naive_met(const std::string& name, int levels) const {
    const Group& group = worlds_groups_.at(name);
    if (levels == 0) return 0;
    const std::int64_t has =
        group.is_leaf
            ? naive_pods(name, is_present)
            : naive_children(name, [&](auto& child) { return naive_met(child, levels - 1); });
    return has >= group.minimum ? 1 : 0;
  }
  std::int64_t naive_unfinished(const std::string& name, int levels) const {
    if (levels == 0) return 0;
    return (worlds_groups_.at(name).is_leaf
                ? naive_pods(name, [](const Pod& pod) { return pod.phase == "Running"; })
                : 0) +
           naive_children(name, [&](auto& child) { return naive_unfinished(child, levels - 1); });
  }

  GroupBook book_;
  std::map<std::string, Group> worlds_groups_;
  std::map<std::string, Pod> worlds_pods_;
};

TEST_F(GroupBookTest, SaysOfAnyForestWhatALookAtAllOfItSays) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const auto composite = [&] { return fmt::format("c{}", below(9)); };
  const auto leaf = [&] { return fmt::format("l{}", below(6)); };
  constexpr const char* kPhases[] = {"Running", "Failed", "Succeeded"};
  for (int i = 0; i < 3'000; ++i) {
    const bool gone = below(5) == 0;
    if (below(2) == 0) {
      const Pod pod{.group = leaf(), .node = below(2) == 0 ? "n" : "", .phase = kPhases[below(3)]};
      put_pod(fmt::format("p{}", below(20)), gone ? std::nullopt : std::optional(pod));
    } else {
      const bool is_leaf = below(2) == 0;
      const Group group{.is_leaf = is_leaf,
                        .parent = below(4) == 0 ? "" : composite(),
                        .minimum = below(4),
                        .is_deleted = true};
      put_group(is_leaf ? leaf() : composite(), gone ? std::nullopt : std::optional(group));
    }
    for (const auto& [name, group] : worlds_groups_) {
      const api::GroupCounts counts = count(name);
      const std::int64_t pods = naive_unfinished(name, kLevels);
      if (group.is_leaf) {
        ASSERT_EQ(counts.members, naive_pods(name, [](const Pod& pod) { return !is_lost(pod); }))
            << i;
        ASSERT_EQ(counts.scheduled, naive_pods(name, is_present)) << i << name;
        continue;
      }
      ASSERT_EQ(counts.members, naive_children(name, [](auto&) { return 1; })) << i << name;
      ASSERT_EQ(counts.scheduled,
                naive_children(name, [&](auto& child) { return naive_met(child, kLevels); }))
          << i << name;
      if (counts.members > 0) {
        ASSERT_TRUE(counts.held_by.ends_with(fmt::format(", {} pod{}", pods, pods == 1 ? "" : "s")))
            << i << name << counts.held_by;
      }
    }
  }
}

// Whatever it is asked: it has a topology, is being deleted, and most of its groups run nowhere.
TEST_F(GroupBookTest, AnAnswerAboutTenThousandGroupsTakesFewLooks) {
  constexpr int kGroups = 10'000;
  put_group("wide", Group{.minimum = 2, .topology = "rack", .is_deleted = true});
  for (int i = 0; i < kGroups; ++i)
    put_group(fmt::format("l{:05}", i), Group{.is_leaf = true, .parent = "wide"});
  for (const int i : {7, kGroups - 1})
    put_pod(fmt::format("p{}", i),
            Pod{.group = fmt::format("l{:05}", i), .node = "n", .phase = "Running"});
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n","labels":{"rack":"r7"}}})"));

  std::uint64_t before = book_.looks();
  const api::GroupCounts counts = count("wide");
  EXPECT_LE(book_.looks() - before, 5U);
  EXPECT_EQ(counts.members, kGroups);
  EXPECT_EQ(counts.scheduled, 2);
  EXPECT_EQ(counts.domains, "r7");
  EXPECT_EQ(counts.held_by, "groups l00000, l00001, l00002 and 9997 more, 2 pods");

  for (int i = 0; i < kGroups; ++i)
    put_pod(fmt::format("p{}", i),
            Pod{.group = fmt::format("l{:05}", i), .node = "n", .phase = "Running"});
  before = book_.looks();
  EXPECT_EQ(count("wide").domains, "r7");
  EXPECT_LE(book_.looks() - before, 100U) << "all of them are on one node, as far as one looks";
  EXPECT_EQ(count("wide").scheduled, kGroups);

  before = book_.looks();
  put_group("wide", Group{.minimum = 3, .topology = "rack", .is_deleted = true});
  EXPECT_LE(book_.looks() - before, 20U);
}

TEST_F(GroupBookTest, AChangeBelowALongChainIsSeenByTheFewAboveIt) {
  constexpr int kLong = 1'000;
  for (int i = 0; i < kLong; ++i)
    put_group(fmt::format("c{}", i), Group{.parent = i == 0 ? "" : fmt::format("c{}", i - 1)});
  put_group("leaf", Group{.is_leaf = true, .parent = fmt::format("c{}", kLong - 1)});
  const std::uint64_t before = book_.looks();
  put_pod("p", Pod{.group = "leaf", .node = "n", .phase = "Running"});
  EXPECT_LE(book_.looks() - before, 10U);
  EXPECT_EQ(count(fmt::format("c{}", kLong - 4)).scheduled, 1);
  EXPECT_EQ(count(fmt::format("c{}", kLong - 5)).scheduled, 0) << "out of sight";
}

TEST_F(GroupBookTest, SaysWhatADeletedGroupWaitsFor) {
  put_group("leaf", Group{.is_leaf = true, .is_deleted = true});
  EXPECT_EQ(count("leaf").held_by, "");
  put_pod("p", Pod{.group = "leaf", .node = "n", .phase = "Running"});
  EXPECT_EQ(count("leaf").held_by, "1 pod");
  put_pod("q", Pod{.group = "leaf", .node = "", .phase = "Pending"});
  put_pod("r", Pod{.group = "leaf", .node = "n", .phase = "Succeeded"});
  EXPECT_EQ(count("leaf").held_by, "2 pods");

  put_group("top", Group{.is_deleted = true});
  EXPECT_EQ(count("top").held_by, "");
  put_group("leaf", Group{.is_leaf = true, .parent = "top"});
  EXPECT_EQ(count("leaf").held_by, "") << "nobody waits for one that stays";
  EXPECT_EQ(count("top").held_by, "group leaf, 2 pods");
  put_group("a", Group{.parent = "top"});
  put_group("b", Group{.is_leaf = true, .parent = "top"});
  EXPECT_EQ(count("top").held_by, "groups a, b, leaf, 2 pods");
  put_group("c", Group{.is_leaf = true, .parent = "top"});
  EXPECT_EQ(count("top").held_by, "groups a, b, c and 1 more, 2 pods");
}

TEST_F(GroupBookTest, APodThatIsOnItsWayOutIsLost) {
  put_group("leaf", Group{.is_leaf = true});
  const auto pod = [](std::string_view phase, std::string_view node) {
    return make(api::kinds::pod(),
                fmt::format(R"({{"metadata":{{"name":"p","namespace":"default",)"
                            R"("deletionTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{)"
                            R"("nodeName":"{}","schedulingGroup":{{"podGroupName":"leaf"}}}},)"
                            R"("status":{{"phase":"{}"}}}})",
                            node, phase));
  };
  const auto counted = [&](std::string_view phase, std::string_view node) {
    book_.add(*pod(phase, node), +1);
    const api::GroupCounts counts = count("leaf");
    book_.add(*pod(phase, node), -1);
    return fmt::format("{} {}", counts.members, counts.scheduled);
  };
  EXPECT_EQ(counted("Running", "n"), "0 0");
  EXPECT_EQ(counted("Pending", ""), "0 0");
  EXPECT_EQ(counted("Succeeded", "n"), "1 1") << "it has done its part";
  EXPECT_EQ(counted("Failed", "n"), "0 0");
}

TEST_F(GroupBookTest, NamesTheDomainsOfRunningPodsOnce) {
  for (const auto& [name, rack] :
       {std::pair("n1", "b"), std::pair("n2", "a"), std::pair("n3", "b")})
    ASSERT_TRUE(create(
        nodes(), "",
        fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"rack":"{}"}}}}}})", name, rack)));
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"bare"}})"));
  put_group("top", Group{.topology = "rack"});
  put_group("leaf", Group{.is_leaf = true, .parent = "top", .topology = "rack"});
  for (const char* node : {"n1", "n3", "bare", "gone"})
    put_pod(node, Pod{.group = "leaf", .node = node, .phase = "Running"});
  EXPECT_EQ(count("leaf").domains, "b");
  put_pod("n2", Pod{.group = "leaf", .node = "n2", .phase = "Running"});
  EXPECT_EQ(count("leaf").domains, "a,b");
  EXPECT_EQ(count("top").domains, "a,b");
  put_pod("n2", Pod{.group = "leaf", .node = "n2", .phase = "Succeeded"});
  EXPECT_EQ(count("top").domains, "b");
  put_group("leaf", Group{.is_leaf = true, .parent = "top"});
  EXPECT_EQ(count("leaf").domains, "") << "it has no topology";
  EXPECT_EQ(count("top").domains, "b");
}

}  // namespace
}  // namespace muster::server
