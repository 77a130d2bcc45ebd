#include "server/core/write/collection_deletion.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "server/core/request/errors.h"
#include "server/core/request/selection.h"
#include "server/core/write/deletion.h"
#include "server/core/write/object_walk.h"
#include "server/core/write/quota.h"

namespace muster::server {
namespace {

class CollectionDeletion final : public SlicedRequest {
 public:
  CollectionDeletion(api::Request request, Reply reply)
      : SlicedRequest(std::move(request), std::move(reply)),
        limit_(static_cast<std::size_t>(std::max<std::int64_t>(request_.list.limit, 0))) {}

  bool step(Context& context) override {
    if (Result<void> begun = begin(); !begun) {
      refuse(context.staging, std::move(begun).error());
      return true;
    }
    Decision slice;
    if (Result<void> removed = remove_some(context, slice); !removed) {
      stage(context, std::move(slice), nullptr);
      refuse(context.staging, std::move(removed).error());
      return true;
    }
    if (!walk_->done() && !is_full()) {
      stage(context, std::move(slice), nullptr);
      return false;
    }
    if (shows_all())
      slice.answer.what = std::move(list_);
    else
      slice.answer.what = api::StatusAnswer{};
    stage(context, std::move(slice), std::move(reply_));
    return true;
  }

 private:
  // Finds out what there is to delete; only the first time.
  Result<void> begin() {
    if (selection_) return {};
    if (!request_.kind->deletes_collections) return fail(method_not_allowed());
    TRY(check_delete_options(request_.remove));
    selection_ = TRY(Selection::of(request_));
    walk_.emplace(selection_->prefix());
    return {};
  }

  bool shows_all() const {
    return shown_bytes_ <= kShownBytesMax && shown_memory_ <= kShownMemoryMax;
  }
  bool is_full() const { return limit_ > 0 && removed_ >= limit_; }

  Result<void> remove_some(Context& context, Decision& slice) {
    std::size_t looks = 0;
    std::size_t changes = 0;
    std::size_t bytes = 0;
    std::size_t searched = 0;
    while (!walk_->done() && !is_full() && looks < kSliceLooks && changes < kSliceChanges &&
           bytes < kSliceBytes && searched < kSliceSearch) {
      const api::ObjectPtr existing = walk_->next(context.staging);
      ++looks;
      if (!existing) continue;
      if (selection_->searches()) searched += existing->bytes().size();
      if (!selection_->matches(*existing)) continue;
      ++changes;
      bytes += existing->bytes().size();
      TRY(remove_one(context, existing, slice));
    }
    return {};
  }

  Result<void> remove_one(Context& context, const api::ObjectPtr& existing, Decision& slice) {
    const Removal removal = TRY(remove_object(context, existing, request_.remove));
    add_removal(slice.transaction, existing, removal);
    ++removed_;
    list_.revision = std::max(list_.revision, existing->revision());
    // A list shows stored objects: those that are gone as they were last.
    show(removal.gone ? existing : removal.object);
    return {};
  }

  void show(api::ObjectPtr object) {
    shown_bytes_ += object->bytes().size();
    shown_memory_ += object->memory();
    if (shows_all())
      list_.items.push_back(std::move(object));
    else
      list_.items = {};
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
  std::optional<ObjectWalk> walk_;  // over what may match
  bool is_staged_ = false;          // something that nobody has been answered for
  std::size_t removed_ = 0;
  api::ListAnswer list_;          // no items unless it shows all
  std::size_t shown_bytes_ = 0;   // of all that was deleted
  std::size_t shown_memory_ = 0;  // the same
};

}  // namespace

std::unique_ptr<SlicedRequest> make_collection_deletion(api::Request request, Reply reply) {
  return std::make_unique<CollectionDeletion>(std::move(request), std::move(reply));
}

}  // namespace muster::server
