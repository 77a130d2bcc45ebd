#include "server/core/write/object_walk.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "store/engine.h"

namespace muster::server {
namespace {

// Names known at a time. Two thousand of the longest fit, so there is at most one list for all that
// a slice looks at.
constexpr std::size_t kNamesBytes = std::size_t{640} << 10U;

// Uids are random and the server's own: among a hundred thousand no two share one.
std::uint64_t mark_of(const api::Object& object) {
  return std::hash<std::string_view>{}(object.meta().uid);
}

std::string key_of(const api::Object& object) {
  return store::make_key(object.kind(), object.meta().name_space, object.meta().name);
}

}  // namespace

std::string_view ObjectWalk::name(std::size_t at) const {
  const std::size_t start = at == 0 ? 0 : names_[at - 1].end;
  return std::string_view(text_).substr(start, names_[at].end - start);
}

bool ObjectWalk::was_there(std::uint64_t mark) const {
  return std::ranges::binary_search(there_, mark);
}

std::size_t ObjectWalk::held_bytes() const {
  return text_.capacity() + names_.capacity() * sizeof(Name) +
         there_.capacity() * sizeof(std::uint64_t);
}

void ObjectWalk::find_names(Staging& staging) {
  const bool first = !std::exchange(begun_, true);
  const std::vector<api::ObjectPtr> objects = staging.list(prefix_);
  text_.clear();
  names_.clear();
  next_ = 0;
  auto at = objects.begin();
  if (!first)
    at = std::ranges::upper_bound(objects, last_, {},
                                  [](const api::ObjectPtr& object) { return key_of(*object); });
  for (; at != objects.end() && text_.size() + names_.size() * sizeof(Name) < kNamesBytes; ++at) {
    const std::uint64_t mark = mark_of(**at);
    if (!first && !was_there(mark)) continue;
    text_ += std::string_view(key_of(**at)).substr(prefix_.size());
    names_.push_back({.mark = mark, .end = text_.size()});
  }
  more_ = at != objects.end();
  if (!first || !more_) return;
  there_.reserve(static_cast<std::size_t>(objects.end() - at));
  for (; at != objects.end(); ++at) there_.push_back(mark_of(**at));
  std::ranges::sort(there_);
}

api::ObjectPtr ObjectWalk::next(Staging& staging) {
  if (next_ == names_.size() && more_) find_names(staging);
  if (next_ == names_.size()) return nullptr;
  last_ = prefix_;
  last_ += name(next_);
  const std::uint64_t mark = names_[next_++].mark;
  api::ObjectPtr object = staging.get(last_);
  return object && mark_of(*object) == mark ? object : nullptr;
}

}  // namespace muster::server
