#include "server/core/write/object_walk.h"

namespace muster::server {

void ObjectWalk::find_keys(Staging& staging) {
  if (!begun_) {
    // All that was decided before the walk is part of it.
    staging.await_commit(prefix_);
    began_at_ = staging.revision();
    begun_ = true;
  }
  const std::string last = keys_.empty() ? std::string() : std::move(keys_.back());
  store::Store::Keys found = staging.keys_after(prefix_, last, kKeysMax);
  keys_ = std::move(found.keys);
  next_ = 0;
  more_ = found.more;
}

api::ObjectPtr ObjectWalk::next(Staging& staging) {
  if (next_ == keys_.size() && more_) find_keys(staging);
  if (next_ == keys_.size()) return nullptr;
  api::ObjectPtr object = staging.get(keys_[next_++]);
  return object && object->created() <= began_at_ ? object : nullptr;
}

}  // namespace muster::server
