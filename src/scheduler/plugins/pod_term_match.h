#pragma once

#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/term_book.h"

namespace muster::scheduler {

// What one pod asks about others, for hints: compared with one pod at a time, without a cluster.
class OtherPods {
 public:
  explicit OtherPods(const api::Object& pod);

  // The other one matches every required affinity term; false if there is none.
  bool attracts(const api::Object& other) const;
  // It matches some required anti-affinity term.
  bool repels(const api::Object& other) const;
  // Every such term that `before` matches, `after` matches too.
  bool repels_all_of(const api::Object& before, const api::Object& after) const;
  // It matches the selector of some strict spread constraint.
  bool counts(const api::Object& other) const;
  // The same constraints count both, or neither.
  bool counts_alike(const api::Object& before, const api::Object& after) const;

 private:
  std::vector<Term> terms_;
  const api::PodNeeds& needs_;
};

// Whether a pod has a node, or was promised one.
bool has_place(const api::Object& pod);

}  // namespace muster::scheduler
