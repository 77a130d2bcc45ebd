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
// The sum over the objects, each as it was when its page was read, and over the changes since then;
// so it is exact. It holds no more than a page of objects and the changes that fit into the feed.
// If there are more changes it starts over; patches of large objects alone cannot cause that
// (namespace_feeds.h). One count at a time in a namespace: others wait before they begin.
class CountedUsage {
 public:
  // From now on this much may be read.
  void begin_slice(std::size_t reads_max, std::size_t bytes_max);
  // False if there is nothing to decide in this slice.
  bool go_on(Context& context);
  // Starts over if it was for another spec.
  api::Quantities count(Context& context, const std::string& name_space, const api::Json& quota);
  // Lets others count in the namespace.
  void end() { feed_ = nullptr; }
  // There was more to read: what was counted is not all.
  bool is_exhausted() const { return exhausted_; }

 private:
  // The objects of one kind, in the order of their names.
  struct Part {
    const api::Kind* kind;
    // Which names were read at which revision: up to `last`, behind those of the range before.
    struct Range {
      std::string last;
      api::Revision revision;
    };
    std::vector<Range> ranges = {};
    std::optional<api::Revision> rest_read_at = {};  // the names behind all ranges, once read

    // nullopt: its turn has not come.
    std::optional<api::Revision> read_at(std::string_view name) const;
  };

  // Nothing is counted yet, and only the changes are followed from now on; not even that while
  // somebody else counts in the namespace.
  void begin(Context& context);
  // All true once nothing is left to be read now.
  bool catch_up(Context& context);
  bool count_objects(Context& context);
  bool count_changes(Context& context);
  bool read_page(Context& context, Part& part);
  void add_change(const UseChange& change);
  // False if no more may be read in this slice.
  bool may_read(std::size_t bytes);

  api::Json spec_;
  NamespaceFeeds::Use use_;  // of what is limited
  api::Quantities used_;     // a name for each that is limited
  std::vector<Part> parts_;
  std::size_t part_ = 0;                        // the part whose objects are being counted
  std::vector<api::ObjectPtr> page_;            // of them, null once counted
  std::size_t next_ = 0;                        // in the page
  std::unique_ptr<NamespaceFeeds::Feed> feed_;  // null: not begun
  std::deque<UseChange> changes_;               // not counted yet
  std::string name_space_;
  std::size_t reads_left_ = 0;
  std::size_t bytes_left_ = 0;
  bool exhausted_ = false;
};

}  // namespace muster::server
