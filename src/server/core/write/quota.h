#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <utility>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"
#include "api/views/amounts.h"
#include "base/result.h"
#include "server/core/write/batch.h"
#include "server/core/write/context.h"

// ResourceQuotas. What a write uses is added to the status of the quotas of its namespace in the
// same transaction, and what it frees is taken off: the status is always exact, and two requests
// can never both use what is left.
namespace muster::server {

const api::Kind& quota_kind();

// What objects use of a quota, kept while they are counted slice by slice.
class CountedUsage {
 public:
  // From now on so many objects may be read.
  void begin_slice(std::size_t reads_max) {
    reads_left_ = reads_max;
    exhausted_ = false;
  }
  // There was more to read: what was counted is not all.
  bool is_exhausted() const { return exhausted_; }

  // Forgets what was kept for another spec.
  void count_for(const api::Json& quota_spec);
  // Null if it is not known.
  const api::Quantities* find(const api::Object& object) const;
  // False if no more may be read in this slice.
  bool may_read();
  void keep(const api::ObjectPtr& object, api::Quantities amounts) {
    uses_.insert_or_assign(object.get(), Use{object, std::move(amounts)});
  }

 private:
  struct Use {
    api::ObjectPtr object;  // so that its address is not given to another
    api::Quantities amounts;
  };
  api::Json spec_;
  boost::unordered_flat_map<const api::Object*, Use> uses_;  // never iterated
  std::size_t reads_left_ = 0;
  bool exhausted_ = false;
};

// Refuses a decision that uses more than some quota allows; else adds to its writes the quotas
// whose status it changes. Costs one look-up where a namespace has none.
Result<void> charge_quotas(Context& context, const api::Request& request, Decision& decision);

// Writes into a quota that is created, or whose spec changes, what its namespace uses already.
// `old` is null for a new one. Looks at every object of the kinds it limits. If that exhausts
// `context.usage`, what is written is not all, and to be thrown away.
void count_quota(Context& context, const api::Request& request, api::Json& quota,
                 const api::Json* old);

}  // namespace muster::server
