#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "twin/naive_storage.h"

namespace muster::scheduler::twin {

// The pod-level scheduler written straight from what upstream's plugins do: one object at a time,
// slow and obvious. It shares nothing with the product but the typed views.
class NaiveScheduler {
 public:
  std::map<std::string, api::ObjectPtr> nodes;    // by name; changed by set_node() only
  NaivePods pods;                                 // that hold a node
  std::map<std::string, api::ObjectPtr> waiting;  // pods that ask, by UID
  // Pods that a node is kept for, by node.
  std::map<std::string, std::vector<api::ObjectPtr>> nominated;
  std::map<std::string, api::StringPairs> namespaces;  // their labels
  std::map<std::string, api::ObjectPtr> sets;          // Services and sets of pods, by kind and key
  NaiveStorage storage;

  // Spread constraints of pods that have none of their own.
  struct DefaultSpread {
    std::string topology_key;
    std::int32_t max_skew = 1;
    bool is_hard = false;
  };
  std::vector<DefaultSpread> default_spread = {{"kubernetes.io/hostname", 3, false},
                                               {"topology.kubernetes.io/zone", 5, false}};
  bool is_system_default = true;

  void set_node(const api::ObjectPtr& node);
  void remove_node(const std::string& name);
  // The pod goes to the node, with the volumes it gets there.
  void place(const api::ObjectPtr& pod, const std::string& node);
  void remove(const std::string& uid);
  // A pod like this one goes to the node, under a name of its own.
  void place_copy(const api::ObjectPtr& pod, const std::string& name, const std::string& node);

  using Verdict = NaiveVerdict;
  // What is said of the pod before any node is looked at.
  std::optional<Verdict> refuses_everywhere(const api::Object& pod) const {
    return storage.refuses_everywhere(pod);
  }
  // What each filter says by itself, in the order they are asked.
  std::vector<Verdict> filters(const api::Object& pod, const std::string& node) const;
  // The first that refuses: with the pods on the node that it is kept for, then without them.
  Verdict filter(const api::Object& pod, const std::string& node) const;
  // How many copies of the pod fit, one after another.
  std::int64_t cap(const api::ObjectPtr& pod, const std::string& node) const;
  // What each score says of a node, before it is normalized over all.
  std::map<std::string, std::int64_t> scores(const api::Object& pod, const std::string& node) const;
  // The weighted total of every node that passes the filters, of those that `may_use` accepts. The
  // others count all the same: in which domains pods are is a matter of the whole cluster.
  using MayUse = std::function<bool(const api::Object& node)>;
  std::map<std::string, std::int64_t> totals(
      const api::Object& pod,
      const MayUse& may_use = [](const api::Object&) { return true; }) const;
  // Upstream's fit error.
  std::string fit_error(const api::Object& pod) const;

 private:
  // naive_affinity.cc and naive_spread.cc: what pods say of each other.
  bool matches(const api::PodTerm& term, const api::Object& owner, const api::Object& other) const;
  Verdict affinity(const api::Object& pod, const std::string& node) const;
  Verdict spread(const api::Object& pod, const std::string& node) const;
  std::map<std::string, std::int64_t> affinity_scores(
      const api::Object& pod, const std::vector<std::string>& feasible) const;
  std::map<std::string, std::int64_t> spread_scores(const api::Object& pod,
                                                    const std::vector<std::string>& feasible) const;
  std::vector<api::SpreadConstraint> constraints_of(const api::Object& pod, bool hard) const;
  api::PodSelector default_selector(const api::Object& pod) const;
  std::set<std::string> shared_claims() const;
  bool misses_features(const api::Object& pod, const api::Object& node) const;

  struct Used {
    std::map<std::string, std::int64_t> requested;
    std::int64_t nonzero_cpu = 0;
    std::int64_t nonzero_memory = 0;
    std::int64_t pods = 0;
  };
  Used used_on(const std::string& node) const;
  bool ports_clash(const api::Object& pod, const std::string& node) const;
  Verdict fit(const api::Object& pod, const std::string& node, const Used& used) const;

  // naive_scores.cc
  std::int64_t image_score(const api::Object& pod, const std::string& node) const;
  static std::int64_t least_allocated(const api::PodNeeds& needs, const api::NodeView& node,
                                      const Used& used);
  static std::int64_t balanced(const api::PodNeeds& needs, const api::NodeView& node,
                               const Used& used);

  struct Image {
    std::int64_t size = 0;
    std::set<std::string> nodes;
  };
  std::map<std::string, Image> images_;  // by name
};

}  // namespace muster::scheduler::twin
