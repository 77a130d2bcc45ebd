#pragma once

#include <string>
#include <utility>

#include "scheduler/framework/pass.h"

namespace muster::scheduler {

// Refuses a class of pods on every node, for a reason that has nothing to do with nodes.
class RefusingPass final : public FilterPass {
 public:
  explicit RefusingPass(std::string reason) : reason_(std::move(reason)) {}

  void narrow(NodeSet& candidates) const override { candidates.clear(); }
  bool admits(NodeId) const override { return false; }
  Exactness cap(CapColumn& at_most) const override {
    at_most.fill(0);
    return Exactness::PerNode;
  }
  Verdict ask(NodeId) const override { return Verdict::refuse(reason_, Remedy::None); }
  std::optional<std::string> refuses_everywhere() const override { return reason_; }

 private:
  std::string reason_;
};

}  // namespace muster::scheduler
