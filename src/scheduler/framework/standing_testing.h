#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"

// Small plugins that read numbers from labels of nodes, and what a reader of their rules expects of
// a standing.
namespace muster::scheduler {

// The number that a node has for a label; 0 if it has none.
inline std::int64_t number_of(const Cluster& cluster, NodeId node, const std::string& label) {
  const std::string* text = api::lookup(cluster.node_object(node)->meta().labels, label);
  return text == nullptr ? 0 : std::stoll(*text);
}

// A node takes as many pods as its label "room" says.
class Room final : public Filter {
 public:
  static constexpr std::string_view kName = "Room";
  class Pass final : public FilterPass {
   public:
    explicit Pass(const Cluster& cluster) : cluster_(cluster) {}
    void narrow(NodeSet& candidates) const override {
      candidates.keep_if([this](NodeId node) { return admits(node); });
    }
    bool admits(NodeId node) const override { return cap_at(node) > 0; }
    Exactness cap(CapColumn& at_most) const override {
      cluster_.nodes().for_each(
          [&](NodeId node) { at_most[node] = std::min(at_most[node], cap_at(node)); });
      return Exactness::PerNode;
    }
    std::int32_t cap_at(NodeId node) const override {
      const std::int64_t left = number_of(cluster_, node, "room") - cluster_.pods_on()[node];
      return static_cast<std::int32_t>(std::max<std::int64_t>(0, left));
    }
    Verdict ask(NodeId) const override { return Verdict::refuse("no room", Remedy::Eviction); }

   private:
    const Cluster& cluster_;
  };
  std::unique_ptr<FilterPass> prepare_filter(const PodClass&,
                                             const Cluster& cluster) const override {
    return std::make_unique<Pass>(cluster);
  }
};

// All nodes with one number for "rack" take so many pods together. Either it names the rows of a
// rack that is full or free again, or racks are places.
class RackLimit final : public Filter {
 public:
  static constexpr std::string_view kName = "RackLimit";
  struct Form {
    std::int32_t limit = 2;
    bool has_places = false;
  };
  explicit RackLimit(Form form) : form_(form) {}

  class Pass final : public FilterPass {
   public:
    Pass(Form form, Cluster& cluster)
        : form_(form), cluster_(cluster), racks_(cluster.watch_label("rack")) {}
    bool follows_moves() const override { return true; }
    void placed(const PodClass&, NodeId node, Touched& touched) override {
      change(node, 1, touched);
    }
    void removed(const PodClass&, NodeId node, Touched& touched) override {
      change(node, -1, touched);
    }
    void narrow(NodeSet& candidates) const override {
      candidates.keep_if([this](NodeId node) { return admits(node); });
    }
    bool admits(NodeId node) const override { return admits_place(rack_of(node)); }
    Verdict ask(NodeId) const override { return Verdict::refuse("rack is full", Remedy::Eviction); }
    bool has_places() const override { return form_.has_places; }
    bool admits_row(NodeId node) const override { return form_.has_places || admits(node); }
    std::int64_t place(NodeId node) const override { return rack_of(node); }
    bool admits_place(std::int64_t rack) const override {
      const auto at = pods_.find(rack);
      return at == pods_.end() || at->second < form_.limit;
    }
    const LabelColumn* domain_column() const override { return &racks_; }
    std::int32_t domain_cap(LabelValueId value) const override {
      const auto at = pods_.find(std::stoll(racks_.names[index_of(value)]));
      return std::max(0, form_.limit - (at == pods_.end() ? 0 : at->second));
    }

   private:
    std::int64_t rack_of(NodeId node) const { return number_of(cluster_, node, "rack"); }
    void change(NodeId node, int by, Touched& touched) {
      std::int32_t& pods = pods_[rack_of(node)];
      pods += by;
      if (!form_.has_places) touched.value(racks_, racks_.values[node]);
    }

    Form form_;
    Cluster& cluster_;
    const LabelColumn& racks_;
    std::map<std::int64_t, std::int32_t> pods_;
  };
  std::unique_ptr<FilterPass> prepare_filter(const PodClass&,
                                             const Cluster& cluster) const override {
    return std::make_unique<Pass>(form_, const_cast<Cluster&>(cluster));  // NOLINT: for a label
  }

 private:
  Form form_;
};

// The number of a label as a score: as it is, or as a share of the greatest.
class ByNumber : public Score {
 public:
  ByNumber(std::string label, ScorePass::Form form) : label_(std::move(label)), form_(form) {}
  class Pass final : public ScorePass {
   public:
    Pass(std::string label, Form form, const Cluster& cluster)
        : label_(std::move(label)), form_(form), cluster_(cluster) {}
    Form form() const override { return form_; }
    void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
      cluster_.nodes().for_each(
          [&](NodeId node) { totals[node] += static_cast<std::int32_t>(weight * local(node)); });
    }
    std::int64_t local(NodeId node) const override { return number_of(cluster_, node, label_); }
    std::int64_t raw(NodeId node) const override { return number_of(cluster_, node, label_); }
    void normalize(std::span<std::int64_t> scores) const override {
      default_normalize(Better::Higher, scores);
    }

   private:
    std::string label_;
    Form form_;
    const Cluster& cluster_;
  };
  std::unique_ptr<ScorePass> prepare_score(const PodClass&, const Cluster& cluster) const override {
    return std::make_unique<Pass>(label_, form_, cluster);
  }

 private:
  std::string label_;
  ScorePass::Form form_;
};
class Local final : public ByNumber {
 public:
  static constexpr std::string_view kName = "Local";
  Local() : ByNumber("local", ScorePass::Form::Local) {}
};
class Raw final : public ByNumber {
 public:
  static constexpr std::string_view kName = "Raw";
  Raw() : ByNumber("raw", ScorePass::Form::Raw) {}
};

// How many pods run in the node's rack, as a share of the most.
class Crowd final : public Score {
 public:
  static constexpr std::string_view kName = "Crowd";
  class Pass final : public ScorePass {
   public:
    explicit Pass(Cluster& cluster) : cluster_(cluster), racks_(cluster.watch_label("rack")) {}
    Form form() const override { return Form::Raw; }
    bool follows_moves() const override { return true; }
    void placed(const PodClass&, NodeId node, Touched& touched) override {
      ++pods_[number_of(cluster_, node, "rack")];
      touched.value(racks_, racks_.values[node]);
    }
    void removed(const PodClass&, NodeId node, Touched& touched) override {
      --pods_[number_of(cluster_, node, "rack")];
      touched.value(racks_, racks_.values[node]);
    }
    std::int64_t raw(NodeId node) const override {
      const auto at = pods_.find(number_of(cluster_, node, "rack"));
      return at == pods_.end() ? 0 : at->second;
    }
    void normalize(std::span<std::int64_t> scores) const override {
      default_normalize(Better::Higher, scores);
    }

   private:
    Cluster& cluster_;
    const LabelColumn& racks_;
    std::map<std::int64_t, std::int64_t> pods_;
  };
  std::unique_ptr<ScorePass> prepare_score(const PodClass&, const Cluster& cluster) const override {
    return std::make_unique<Pass>(const_cast<Cluster&>(cluster));  // NOLINT: for a label
  }
};

// Which of these plugins a test uses, beside Room, Local and Raw.
struct StandingRules {
  std::optional<RackLimit::Form> limit = {};
  bool is_crowd = false;  // Crowd in the place of Raw
};

class StandingBench : public ::testing::Test {
 protected:
  struct Numbers {
    int room = 9;
    int rack = 1;
    int local = 0;
    int raw = 0;
  };
  void node(const std::string& name, const Numbers& numbers) {
    cluster_.set_node(NodeSample{.name = name,
                                 .labels = {{"room", std::to_string(numbers.room)},
                                            {"rack", std::to_string(numbers.rack)},
                                            {"local", std::to_string(numbers.local)},
                                            {"raw", std::to_string(numbers.raw)}}}
                          .make());
  }
  NodeId row(const std::string& name) const {
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node(name, id)) << name;
    return id;
  }
  const PodClass& pods() {
    const PodClass& found = cluster_.class_of(PodSample{.name = "asks"}.make());
    if (!std::exchange(is_held_, true)) cluster_.retain_class(found.id);
    return found;
  }
  Standing make() { return Standing(pods(), profile_, cluster_); }
  // "node total", or "none".
  std::string text_of(const std::optional<Standing::Pick>& pick) const {
    return pick ? fmt::format("{} {}", cluster_.node_name(pick->node), pick->total) : "none";
  }
  std::string picked() {
    Standing standing = make();
    standing.catch_up();
    const std::string pick = text_of(standing.pick());
    Standing once = make();
    Standing::Scratch scratch;
    EXPECT_EQ(text_of(once.pick_once(scratch)), pick) << "the first pod of a class";
    EXPECT_EQ(text_of(once.pick_once(scratch)), pick) << "the second";
    return pick;
  }

  // --- what a reader of the rules would say ---

  std::int64_t in_rack(std::int64_t rack) const {
    std::int64_t sum = 0;
    cluster_.nodes().for_each([&](NodeId id) {
      if (number_of(cluster_, id, "rack") == rack) sum += cluster_.pods_on()[id];
    });
    return sum;
  }
  bool is_open(NodeId id, const StandingRules& rules) const {
    return number_of(cluster_, id, "room") > cluster_.pods_on()[id] &&
           (!rules.limit || in_rack(number_of(cluster_, id, "rack")) < rules.limit->limit);
  }
  std::string naive_pick(const StandingRules& rules) const {
    std::vector<NodeId> open;
    for (std::uint32_t rank = 0; rank < cluster_.node_count(); ++rank)
      if (is_open(cluster_.node_at(rank), rules)) open.push_back(cluster_.node_at(rank));
    std::int64_t greatest = 0;
    const auto raw_of = [&](NodeId id) {
      return rules.is_crowd ? in_rack(number_of(cluster_, id, "rack"))
                            : number_of(cluster_, id, "raw");
    };
    for (const NodeId id : open) greatest = std::max(greatest, raw_of(id));
    std::string best = "none";
    std::int64_t best_total = -1;
    for (const NodeId id : open) {
      const std::int64_t raw = raw_of(id);
      const std::int64_t total =
          2 * number_of(cluster_, id, "local") + 3 * (greatest == 0 ? raw : raw * 100 / greatest);
      if (total <= best_total) continue;
      best_total = total;
      best = fmt::format("{} {}", cluster_.node_name(id), total);
    }
    return best;
  }
  // Compares all that a standing says with the rules.
  void expect_true(Standing& standing, const StandingRules& rules, const std::string& when) {
    ASSERT_EQ(text_of(standing.pick()), naive_pick(rules)) << when;
    std::int64_t caps = 0;
    std::map<std::int64_t, std::int64_t> caps_in;
    for (std::size_t at = 0; at < cluster_.rows(); ++at) {
      const auto id = static_cast<NodeId>(at);
      const bool is_node = cluster_.nodes().contains(id);
      ASSERT_EQ(standing.is_feasible(id), is_node && is_open(id, rules)) << when << " " << at;
      ASSERT_EQ(standing.is_feasible_now(id), is_node && is_open(id, rules)) << when << " " << at;
      const std::int64_t cap =
          is_node
              ? std::max<std::int64_t>(0, number_of(cluster_, id, "room") - cluster_.pods_on()[id])
              : 0;
      ASSERT_EQ(standing.caps()[id], cap) << when << " " << at;
      ASSERT_EQ(standing.cap_now(id), cap) << when << " " << at;
      caps += cap;
      if (is_node) caps_in[number_of(cluster_, id, "rack")] += cap;
    }
    auto whole = std::make_shared<Division>();
    whole->cell_count = 1;
    whole->cell_of.resize(cluster_.rows());
    const std::vector<CellId> cells{CellId{0}};
    ASSERT_EQ(standing.cap_sums(whole)[0], caps) << when;
    if (rules.limit) {
      caps = 0;
      for (const auto& [rack, sum] : caps_in)
        caps += std::min(sum, std::max<std::int64_t>(0, rules.limit->limit - in_rack(rack)));
    }
    ASSERT_EQ(standing.cap_sum(whole, cells), caps) << when;
  }

  Cluster cluster_;
  Profile profile_;
  bool is_held_ = false;
};

}  // namespace muster::scheduler
