#include "scheduler/framework/draft.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

// Writes down what it hears, with the CPU that is used on the node by then.
class Diary final : public Draft::Listener {
 public:
  Diary(const Cluster& cluster, std::string name, std::vector<std::string>& heard)
      : cluster_(cluster), name_(std::move(name)), heard_(heard) {}
  void applied(const Draft::Move& move) override { write(move, "does"); }
  void undone(const Draft::Move& move) override { write(move, "undoes"); }

 private:
  void write(const Draft::Move& move, const char* verb) {
    heard_.push_back(fmt::format("{} {} {} {}: {}", name_, verb,
                                 move.kind == Draft::Move::Kind::Place ? "placing" : "removing",
                                 move.tag,
                                 cluster_.resource(ResourceId::Cpu).requested[move.node]));
  }

  const Cluster& cluster_;
  std::string name_;
  std::vector<std::string>& heard_;
};

class DraftTest : public ::testing::Test {
 protected:
  DraftTest() {
    cluster_.set_node(NodeSample{.name = "n"}.make());
    cluster_.set_pod(PodSample{.name = "runs", .cpu = "1", .node_name = "n"}.make());
    EXPECT_TRUE(cluster_.find_node("n", node_));
    const PodClass& pods = cluster_.class_of(PodSample{.name = "p", .cpu = "1"}.make());
    cluster_.retain_class(pods.id);
    pods_ = &pods;
  }
  std::int64_t used() const { return cluster_.resource(ResourceId::Cpu).requested[node_]; }

  Cluster cluster_;
  NodeId node_{};
  const PodClass* pods_ = nullptr;
  std::vector<std::string> heard_;
};

TEST_F(DraftTest, ListenersHearInOrderAndOfUndoingInReverse) {
  Diary first(cluster_, "first", heard_);
  Diary second(cluster_, "second", heard_);
  Draft draft(cluster_);
  draft.add_listener(first);
  draft.add_listener(second);
  draft.place(*pods_, node_, 7);
  draft.remove(*pods_, node_, 8);
  draft.undo_all();
  EXPECT_EQ(heard_, (std::vector<std::string>{
                        "first does placing 7: 2000", "second does placing 7: 2000",
                        "first does removing 8: 1000", "second does removing 8: 1000",
                        "second undoes removing 8: 2000", "first undoes removing 8: 2000",
                        "second undoes placing 7: 1000", "first undoes placing 7: 1000"}));
}

TEST_F(DraftTest, WhatIsLeftIsUndoneInTheEnd) {
  {
    Draft draft(cluster_);
    draft.place(*pods_, node_, 0);
    draft.place(*pods_, node_, 1);
    EXPECT_EQ(used(), 3000);
    EXPECT_EQ(draft.moves().size(), 2U);
    EXPECT_EQ(draft.moves()[1].tag, 1U);
    EXPECT_EQ(draft.moves()[1].node, node_);
    EXPECT_EQ(draft.moves()[1].pods, pods_);
  }
  EXPECT_EQ(used(), 1000);
}

TEST_F(DraftTest, ACheckpointUndoesWhatCameAfterItUnlessItIsKept) {
  Draft draft(cluster_);
  draft.place(*pods_, node_, 0);
  {
    Draft::Checkpoint undo = draft.checkpoint();
    draft.place(*pods_, node_, 1);
    draft.place(*pods_, node_, 2);
    EXPECT_EQ(undo.moves_since(), 2U);
    undo.undo();
    EXPECT_EQ(undo.moves_since(), 0U);
    EXPECT_EQ(used(), 2000);
    draft.place(*pods_, node_, 3);
  }
  EXPECT_EQ(used(), 2000) << "undone once, it stays in force";
  {
    Draft::Checkpoint undo = draft.checkpoint();
    draft.place(*pods_, node_, 4);
    undo.keep();
  }
  EXPECT_EQ(used(), 3000);
  EXPECT_EQ(draft.moves().size(), 2U);
}

TEST_F(DraftTest, CountsRemovalsUntilTheyAreUndone) {
  class Counter final : public Draft::Listener {
   public:
    explicit Counter(const Draft& draft) : draft_(draft) {}
    void applied(const Draft::Move&) override { seen.push_back(draft_.removals()); }
    void undone(const Draft::Move&) override { seen.push_back(draft_.removals()); }
    std::vector<std::size_t> seen;

   private:
    const Draft& draft_;
  };
  Draft draft(cluster_);
  Counter counter(draft);
  draft.add_listener(counter);
  draft.remove(*pods_, node_, 0);
  draft.place(*pods_, node_, 1);
  EXPECT_EQ(draft.removals(), 1U);
  draft.undo_all();
  EXPECT_EQ(draft.removals(), 0U);
  EXPECT_EQ(counter.seen, (std::vector<std::size_t>{1, 1, 1, 1}))
      << "the one being undone is among them";
  EXPECT_EQ(used(), 1000);
}

TEST_F(DraftTest, NobodyIsRemovedFromANodeWithoutPods) {
  cluster_.set_node(NodeSample{.name = "empty"}.make());
  NodeId empty{};
  ASSERT_TRUE(cluster_.find_node("empty", empty));
  Draft draft(cluster_);
  EXPECT_DEATH(draft.remove(*pods_, empty, 0), "");
  cluster_.remove_node("n");
  EXPECT_DEATH(draft.remove(*pods_, node_, 0), "") << "the node is gone, its pod is not";
}

}  // namespace
}  // namespace muster::scheduler
