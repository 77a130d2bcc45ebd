#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "scheduler/framework/pass.h"

namespace muster::scheduler {

// Refuses a class of pods on every node, for a reason that has nothing to do with nodes: before any
// node is looked at, or at each node, in the plugin's turn.
class RefusingPass final : public FilterPass {
 public:
  enum class When : std::uint8_t { BeforeNodes, AtEachNode };
  explicit RefusingPass(std::string reason, When when = When::BeforeNodes)
      : reason_(std::move(reason)), when_(when) {}

  void narrow(NodeSet& candidates) const override { candidates.clear(); }
  bool admits(NodeId) const override { return false; }
  Exactness cap(CapColumn& at_most) const override {
    at_most.fill(0);
    return Exactness::PerNode;
  }
  Verdict ask(NodeId) const override { return Verdict::refuse(reason_, Remedy::None); }
  std::optional<std::string> refuses_everywhere() const override {
    return when_ == When::BeforeNodes ? std::optional(reason_) : std::nullopt;
  }

 private:
  std::string reason_;
  When when_;
};

}  // namespace muster::scheduler
