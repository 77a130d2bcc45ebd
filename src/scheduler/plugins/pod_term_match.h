#pragma once

#include "api/object.h"
#include "api/views/pod_view.h"

namespace muster::scheduler {

// What one pod asks about others, for hints: compared with one pod at a time, without a cluster.
// Asked of every waiting class, for every pod that comes or goes: it reads the pod's terms in place
// and builds nothing from them (no resolve_terms). Must not outlive the pod.
class OtherPods {
 public:
  explicit OtherPods(const api::Object& pod);

  // The other one matches every required affinity term; false if there is none.
  bool attracts(const api::Object& other) const;
  // It matches some required anti-affinity term.
  bool repels(const api::Object& other) const;
  // Every such term that matches `before` matches `after` too.
  bool repels_all_of(const api::Object& before, const api::Object& after) const;
  // It matches the selector of some strict spread constraint.
  bool counts(const api::Object& other) const;
  // The same constraints count both, or neither.
  bool counts_alike(const api::Object& before, const api::Object& after) const;

 private:
  bool matches(const api::PodTerm& term, const api::Object& other) const;
  bool matches(const api::SpreadConstraint& constraint, const api::Object& other) const;

  const api::ObjectMeta& pod_;
  const api::PodNeeds& needs_;  // nothing, if there is more than is judged
};

// Whether a pod has a node, or was promised one.
bool has_place(const api::Object& pod);

}  // namespace muster::scheduler
