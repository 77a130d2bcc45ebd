#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// A cluster, and what a profile makes of it for one pod: for tests of plugins that look beyond the
// node.
class StandingTest : public ::testing::Test {
 protected:
  Standing& standing_of(const api::ObjectPtr& pod) {
    standing_ = std::make_unique<Standing>(cluster_.class_of(pod), profile_, cluster_);
    standing_->catch_up();
    return *standing_;
  }
  NodeId id(const std::string& name) const {
    NodeId node{};
    EXPECT_TRUE(cluster_.find_node(name, node)) << name;
    return node;
  }
  // "" if accepted.
  std::string why(const std::string& node) const {
    const Verdict verdict = standing_->ask(id(node)).verdict;
    EXPECT_EQ(verdict.accepted(), standing_->is_feasible(id(node))) << node;
    return verdict.accepted() ? "" : std::string(verdict.reasons().front());
  }
  // By the first score, normalized as if there were no other nodes.
  std::vector<std::int64_t> scores(const std::vector<std::string>& nodes) const {
    const ScorePass& pass = *standing_->scores()[0].pass;
    std::vector<std::int64_t> scores;
    scores.reserve(nodes.size());
    for (const std::string& node : nodes) scores.push_back(pass.raw(id(node)));
    pass.normalize_counted(scores, std::vector<std::uint32_t>(nodes.size(), 1));
    return scores;
  }

  Cluster cluster_;
  Profile profile_;
  std::unique_ptr<Standing> standing_;
  int next_ = 0;  // number of the next pod
};

}  // namespace muster::scheduler
