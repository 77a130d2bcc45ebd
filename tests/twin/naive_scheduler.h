#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"

namespace muster::scheduler::twin {

// The pod-level scheduler written straight from what upstream's plugins do: one object at a time,
// slow and obvious. It shares nothing with the product but the typed views.
class NaiveScheduler {
 public:
  std::map<std::string, api::ObjectPtr> nodes;                         // by name
  std::map<std::string, std::pair<api::ObjectPtr, std::string>> pods;  // by UID: pod and its node
  std::map<std::string, api::StringPairs> namespaces;                  // their labels

  struct Verdict {
    std::vector<std::string> reasons;  // empty: accepted
    std::string plugin;
    bool unresolvable = false;
  };
  // What each filter says by itself, in the order they are asked, and the first that refuses.
  std::vector<Verdict> filters(const api::Object& pod, const std::string& node) const;
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

  struct Used {
    std::map<std::string, std::int64_t> requested;
    std::int64_t nonzero_cpu = 0;
    std::int64_t nonzero_memory = 0;
    std::int64_t pods = 0;
  };
  Used used_on(const std::string& node) const;
  bool ports_clash(const api::Object& pod, const std::string& node) const;
  Verdict fit(const api::Object& pod, const std::string& node, const Used& used) const;
};

}  // namespace muster::scheduler::twin
