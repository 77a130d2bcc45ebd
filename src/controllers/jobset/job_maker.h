#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"
#include "api/views/job_set_view.h"
#include "controllers/jobset/shared_claims.h"
#include "workload/job_set.h"

namespace muster::controllers {

// Makes the documents of a JobSet's Jobs, and what changes in them when they are resumed.
class JobMaker {
 public:
  using GroupLink = workload::JobSetMapping::Link;

  // The priority of a priority class by name; empty: the priority without a class.
  using PriorityOf = std::function<std::int64_t(std::string_view priority_class)>;
  explicit JobMaker(const api::Object& set, PriorityOf priority_of = nullptr);

  api::Json make(std::size_t entry, std::int32_t index, const GroupLink& link) const;

  // Lets a suspended Job run, and updates what of its pods may change while it is suspended:
  // labels, annotations, node selector, tolerations, scheduling gates.
  api::Request resume_request(const api::Object& job, std::size_t entry, std::int32_t index) const;

 private:
  using Pairs = std::vector<std::pair<std::string_view, std::string>>;

  const api::Json& template_of(std::size_t entry) const;
  // Labels that are also annotations.
  Pairs marks(std::size_t entry, std::int32_t index) const;
  std::string coordinator() const;
  void place_exclusively(std::size_t entry, const std::string& job, bool grouped,
                         api::JsonObject& pod_template) const;

  const api::Object& set_;
  const api::JobSetView& view_;
  const api::Json document_;
  const PriorityOf priority_of_;  // may be null: all are 0
  const std::vector<SharedClaim> claims_;
};

// The reference Service of the set's pods: headless, named like their subdomain.
api::Request service_request(const api::Object& set);

}  // namespace muster::controllers
