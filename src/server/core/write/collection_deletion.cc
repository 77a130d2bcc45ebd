#include "server/core/write/collection_deletion.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "server/core/request/errors.h"
#include "server/core/request/selection.h"
#include "server/core/write/deletion.h"
#include "server/core/write/quota.h"

namespace muster::server {
namespace {

class CollectionDeletion final : public SlicedRequest {
 public:
  CollectionDeletion(api::Request request, Reply reply)
      : SlicedRequest(std::move(request), std::move(reply)),
        limit_(static_cast<std::size_t>(std::max<std::int64_t>(request_.list.limit, 0))) {}

  bool step(Context& context) override {
    if (Result<void> begun = begin(context); !begun) {
      refuse(context.staging, std::move(begun).error());
      return true;
    }
    Decision slice;
    if (Result<void> removed = remove_some(context, slice); !removed) {
      stage(context, std::move(slice), nullptr);
      refuse(context.staging, std::move(removed).error());
      return true;
    }
    if (next_ < objects_.size()) {
      stage(context, std::move(slice), nullptr);
      return false;
    }
    slice.answer.what = std::move(list_);
    stage(context, std::move(slice), std::move(reply_));
    return true;
  }

 private:
  // Finds out what there is to delete; only the first time.
  Result<void> begin(Context& context) {
    if (selection_) return {};
    if (!request_.kind->deletes_collections) return fail(method_not_allowed());
    TRY(check_delete_options(request_.remove));
    selection_ = TRY(Selection::of(request_));
    objects_ = context.staging.list(selection_->prefix());
    return {};
  }

  bool is_full() const { return limit_ > 0 && list_.items.size() >= limit_; }

  Result<void> remove_some(Context& context, Decision& slice) {
    std::size_t looks = 0;
    std::size_t changes = 0;
    std::size_t bytes = 0;
    while (next_ < objects_.size() && looks < kSliceLooks && changes < kSliceChanges &&
           bytes < kSliceBytes) {
      if (is_full()) next_ = objects_.size();
      if (next_ == objects_.size()) break;
      const api::ObjectPtr listed = std::exchange(objects_[next_++], nullptr);
      ++looks;
      if (!selection_->matches(*listed)) continue;
      ++changes;
      bytes += listed->bytes().size();
      TRY(remove_one(context, *listed, slice));
    }
    return {};
  }

  Result<void> remove_one(Context& context, const api::Object& listed, Decision& slice) {
    const api::ObjectMeta& meta = listed.meta();
    const api::ObjectPtr existing =
        context.staging.get(store::make_key(listed.kind(), meta.name_space, meta.name));
    if (!existing || existing->meta().uid != meta.uid) return {};
    const Removal removal = TRY(remove_object(context, existing, request_.remove));
    add_removal(slice.transaction, existing, removal);
    // A list shows stored objects: those that are gone as they were last.
    list_.items.push_back(removal.gone ? existing : removal.object);
    list_.revision = std::max(list_.revision, existing->revision());
    return {};
  }

  // Only the last slice answers, once it and therefore all before it are durable.
  void stage(Context& context, Decision slice, Reply reply) {
    const auto charged = charge_quotas(context, request_, slice);
    CHECK_THAT(charged.has_value(), "a quota refuses a deletion");
    if (reply && is_staged_) {
      context.staging.stage_in_order(request_, std::move(slice), std::move(reply));
    } else if (reply) {
      context.staging.stage(request_, std::move(slice), std::move(reply));
    } else if (!slice.transaction.writes.empty() && !request_.dry_run) {
      context.staging.stage(request_, std::move(slice), nullptr);
      is_staged_ = true;
    }
  }

  const std::size_t limit_;  // 0: none
  std::optional<Selection> selection_;
  std::vector<api::ObjectPtr> objects_;  // what may match; null once looked at
  std::size_t next_ = 0;
  bool is_staged_ = false;  // something that nobody has been answered for
  api::ListAnswer list_;
};

}  // namespace

std::unique_ptr<SlicedRequest> make_collection_deletion(api::Request request, Reply reply) {
  return std::make_unique<CollectionDeletion>(std::move(request), std::move(reply));
}

}  // namespace muster::server
