#include "server/core/write/quota_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/reading.h"

namespace muster::server {
namespace {

using api::ObjectPtr;
using api::Quantities;

// A name for each that the quota limits.
Quantities nothing_of(const Quantities& hard) {
  Quantities used;
  for (const auto& [name, amount] : hard) used.emplace_back(name, api::Quantity());
  return used;
}

Quantities used_by(const QuotaScopes& scopes, const api::Kind& kind, const api::Object& object,
                   const Quantities& hard) {
  const ObjectUse use = use_of(kind, object);
  return scopes.match(use.traits) ? masked(use.amounts, hard) : Quantities();
}

}  // namespace

std::string prefix_of(const api::Kind& kind, std::string_view name_space) {
  return fmt::format("{}/{}/", kind.store_prefix, name_space);
}

Quantities hard_of(const api::Json& quota) {
  return api::read_quantities(api::find_object(api::part_of(quota, "spec"), "hard"));
}

Quantities count_namespace(Context& context, std::string_view name_space, const api::Json& quota) {
  const Quantities hard = hard_of(quota);
  const QuotaScopes scopes(api::part_of(quota, "spec"));
  Quantities used = nothing_of(hard);
  for (const api::Kind* kind : kinds_using(hard))
    for (const ObjectPtr& object : context.staging.list(prefix_of(*kind, name_space)))
      api::add_to(used, used_by(scopes, *kind, *object, hard));
  return used;
}

void CountedUsage::begin_slice(std::size_t reads_max, std::size_t bytes_max) {
  reads_left_ = reads_max;
  bytes_left_ = bytes_max;
  exhausted_ = false;
}

bool CountedUsage::go_on(const Context& context) {
  if (feed_ == nullptr) return waits_in_.empty() || !context.staging.feeds().is_open(waits_in_);
  return count_objects() && count_changes();
}

Quantities CountedUsage::count(Context& context, const std::string& name_space,
                               const api::Json& quota) {
  if (feed_ == nullptr || spec_ != api::part_of(quota, "spec"))
    begin(context, name_space, quota);
  else
    for (const Part& part : parts_) context.staging.settle(prefix_of(*part.kind, name_space));
  exhausted_ = feed_ == nullptr || !count_objects() || !count_changes();
  return used_;
}

void CountedUsage::begin(Context& context, const std::string& name_space, const api::Json& quota) {
  feed_ = nullptr;
  changes_.clear();
  parts_.clear();
  part_ = 0;
  waits_in_ = name_space;
  if (context.staging.feeds().is_open(name_space)) return;
  spec_ = api::part_of(quota, "spec");
  scopes_.emplace(spec_);
  const Quantities hard = hard_of(quota);
  used_ = nothing_of(hard);
  const std::vector<const api::Kind*> kinds = kinds_using(hard);
  for (const api::Kind* kind : kinds)
    parts_.push_back(
        {.kind = kind, .objects = context.staging.list(prefix_of(*kind, name_space)), .next = 0});
  // Nothing that was listed changes before this: no batch that is not durable writes any of it.
  feed_ = context.staging.feeds().open(name_space, kinds);
}

bool CountedUsage::count_objects() {
  for (; part_ < parts_.size(); ++part_) {
    Part& part = parts_[part_];
    for (; part.next < part.objects.size(); ++part.next) {
      if (!may_read(part.objects[part.next])) return false;
      add(*part.kind, std::exchange(part.objects[part.next], nullptr), /*goes=*/false);
    }
    part.objects = {};
    part.next = 0;
  }
  return true;
}

bool CountedUsage::count_changes() {
  std::ranges::move(feed_->take(), std::back_inserter(changes_));
  for (; !changes_.empty(); changes_.pop_front()) {
    const ObjectChange& change = changes_.front();
    const ObjectPtr& known = change.before != nullptr ? change.before : change.after;
    if (!may_read(known)) return false;
    for (const Part& part : parts_) {
      if (part.kind->store_prefix != known->kind().store_prefix) continue;
      if (change.before != nullptr) add(*part.kind, change.before, /*goes=*/true);
      if (change.after != nullptr) add(*part.kind, change.after, /*goes=*/false);
    }
  }
  return true;
}

bool CountedUsage::may_read(const ObjectPtr& object) {
  if (reads_left_ == 0 || bytes_left_ == 0) return false;
  --reads_left_;
  bytes_left_ -= std::min(bytes_left_, object->bytes().size());
  return true;
}

void CountedUsage::add(const api::Kind& kind, const ObjectPtr& object, bool goes) {
  Quantities own = used_by(*scopes_, kind, *object, used_);
  if (goes)
    for (auto& [name, amount] : own) amount = -amount;
  api::add_to(used_, own);
}

}  // namespace muster::server
