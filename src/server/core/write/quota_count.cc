#include "server/core/write/quota_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/reading.h"

namespace muster::server {
namespace {

constexpr std::size_t kPageMax = 256;

using api::ObjectPtr;
using api::Quantities;

// A name for each that the quota limits.
Quantities nothing_of(const Quantities& hard) {
  Quantities used;
  for (const auto& [name, amount] : hard) used.emplace_back(name, api::Quantity());
  return used;
}

Quantities limits_of(const api::Json& spec) {
  return api::read_quantities(api::find_object(spec, "hard"));
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

Quantities hard_of(const api::Json& quota) { return limits_of(api::part_of(quota, "spec")); }

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

bool CountedUsage::go_on(Context& context) {
  if (feed_ == nullptr) return name_space_.empty() || !context.staging.feeds().is_open(name_space_);
  return catch_up(context);
}

Quantities CountedUsage::count(Context& context, const std::string& name_space,
                               const api::Json& quota) {
  if (feed_ == nullptr || spec_ != api::part_of(quota, "spec")) {
    spec_ = api::part_of(quota, "spec");
    name_space_ = name_space;
    begin(context);
  } else {
    for (const Part& part : parts_)
      context.staging.await_commit(prefix_of(*part.kind, name_space_));
  }
  exhausted_ = feed_ == nullptr || !catch_up(context);
  return used_;
}

void CountedUsage::begin(Context& context) {
  feed_ = nullptr;
  changes_.clear();
  parts_.clear();
  part_ = 0;
  page_.clear();
  next_ = 0;
  if (context.staging.feeds().is_open(name_space_)) return;
  const Quantities hard = limits_of(spec_);
  used_ = nothing_of(hard);
  use_ = [scopes = QuotaScopes(spec_), hard](const api::Kind& kind, const api::Object& object) {
    return used_by(scopes, kind, object, hard);
  };
  const std::vector<const api::Kind*> kinds = kinds_using(hard);
  for (const api::Kind* kind : kinds) parts_.push_back({.kind = kind});
  feed_ = context.staging.feeds().open(name_space_, kinds, use_);
}

// Changes come first: the feed holds what has come since the last slice.
bool CountedUsage::catch_up(Context& context) {
  return count_changes(context) && count_objects(context) && count_changes(context);
}

bool CountedUsage::count_objects(Context& context) {
  for (; part_ < parts_.size(); ++part_) {
    Part& part = parts_[part_];
    do {
      for (; next_ < page_.size(); ++next_) {
        if (!may_read(page_[next_]->bytes().size())) return false;
        api::add_to(used_, use_(*part.kind, *std::exchange(page_[next_], nullptr)));
      }
    } while (read_page(context, part));
  }
  return true;
}

// False if the part was read to its end.
bool CountedUsage::read_page(Context& context, Part& part) {
  page_.clear();
  next_ = 0;
  if (part.rest_read_at) return false;
  const std::string prefix = prefix_of(*part.kind, name_space_);
  store::Store::Page page = context.staging.page_after(
      prefix, part.ranges.empty() ? std::string() : prefix + part.ranges.back().last, kPageMax);
  if (page.more)
    part.ranges.push_back({page.objects.back()->meta().name, page.revision});
  else
    part.rest_read_at = page.revision;
  page_ = std::move(page.objects);
  return true;
}

std::optional<api::Revision> CountedUsage::Part::read_at(std::string_view name) const {
  const auto range = std::ranges::lower_bound(ranges, name, {}, &Range::last);
  return range == ranges.end() ? rest_read_at : range->revision;
}

bool CountedUsage::count_changes(Context& context) {
  while (true) {
    for (; !changes_.empty(); changes_.pop_front()) {
      if (!may_read(0)) return false;
      add_change(changes_.front());
    }
    std::optional<std::vector<UseChange>> drained = feed_->drain();
    if (!drained) {
      begin(context);
      return false;
    }
    if (drained->empty()) return true;
    std::ranges::move(*drained, std::back_inserter(changes_));
  }
}

void CountedUsage::add_change(const UseChange& change) {
  const auto part = std::ranges::find(parts_, change.kind, &Part::kind);
  const std::optional<api::Revision> read_at = part->read_at(change.name);
  if (!read_at || change.revision <= *read_at) return;  // it is, or will be, in a page
  api::add_to(used_, change.more);
}

bool CountedUsage::may_read(std::size_t bytes) {
  if (reads_left_ == 0 || bytes_left_ == 0) return false;
  --reads_left_;
  bytes_left_ -= std::min(bytes_left_, bytes);
  return true;
}

}  // namespace muster::server
