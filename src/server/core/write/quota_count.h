#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/amounts.h"
#include "server/core/write/context.h"
#include "server/core/write/namespace_feeds.h"
#include "server/core/write/quota_usage.h"

// How much the objects of a namespace use of what a quota limits.
namespace muster::server {

// The key prefix of the namespace's objects of the kind.
std::string prefix_of(const api::Kind& kind, std::string_view name_space);
api::Quantities hard_of(const api::Json& quota);

// All at once.
api::Quantities count_namespace(Context& context, std::string_view name_space,
                                const api::Json& quota);

// The same slice by slice, for one request:
//
//   begin_slice(), go_on() → true, count() → is_exhausted()     a slice reads so much
//   begin_slice(), go_on() → false ...                          it is not all yet
//   begin_slice(), go_on() → true, count() → !is_exhausted()    what is used now
//
// It is a sum over the objects as they were when it began and over the changes since, so it is
// exact and keeps only a pointer per object until its turn comes. One count at a time
// in a namespace: others wait before they begin.
class CountedUsage {
 public:
  // From now on this much may be read.
  void begin_slice(std::size_t reads_max, std::size_t bytes_max);
  // False if there is nothing to decide in this slice.
  bool go_on(const Context& context);
  // Starts over if it was for another spec.
  api::Quantities count(Context& context, const std::string& name_space, const api::Json& quota);
  // Lets others count in the namespace.
  void end() { feed_ = nullptr; }
  // There was more to read: what was counted is not all.
  bool is_exhausted() const { return exhausted_; }

 private:
  struct Part {
    const api::Kind* kind;
    std::vector<api::ObjectPtr> objects;  // null once counted
    std::size_t next = 0;
  };

  void begin(Context& context, const std::string& name_space, const api::Json& quota);
  // Both true once nothing is left.
  bool count_objects();
  bool count_changes();
  // False if no more may be read in this slice.
  bool may_read(const api::ObjectPtr& object);
  void add(const api::Kind& kind, const api::ObjectPtr& object, bool goes);

  api::Json spec_;
  std::optional<QuotaScopes> scopes_;
  api::Quantities used_;  // a name for each that is limited
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  std::unique_ptr<NamespaceFeeds::Feed> feed_;  // null: not begun
  std::deque<ObjectChange> changes_;            // not counted yet
  std::string waits_in_;  // the namespace where another count must end before this can begin
  std::size_t reads_left_ = 0;
  std::size_t bytes_left_ = 0;
  bool exhausted_ = false;
};

}  // namespace muster::server
