#include "store/engines/deposits.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "store/engines/totals.h"

namespace muster::store {

std::string deposit_key(std::int64_t number) {
  return std::string(kDeposit) + encode_numbers({number});
}

std::optional<std::int64_t> deposit_number(std::string_view key) {
  std::int64_t number = 0;
  if (!key.starts_with(kDeposit) || !decode_numbers(key.substr(kDeposit.size()), {&number}))
    return std::nullopt;
  return number;
}

void Deposits::restart(Numbers named, std::span<const std::int64_t> unnamed) {
  named_ = std::move(named);
  pending_.clear();
  by_object_.clear();
  last_ = 0;
  for (const auto& [revision, number] : named_) last_ = std::max(last_, number);
  for (const std::int64_t number : unnamed) {
    last_ = std::max(last_, number);
    pending_[number] = {};  // of an object that is gone
  }
}

std::vector<std::pair<ObjectPtr, Deposit>> Deposits::add(std::span<const ObjectPtr> objects,
                                                         const Database& database,
                                                         rocksdb::WriteBatch& write) {
  std::vector<std::pair<ObjectPtr, Deposit>> added;
  added.reserve(objects.size());
  for (const ObjectPtr& object : objects) {
    const std::string_view bytes = object->bytes();
    CHECK(bytes.size() <= std::numeric_limits<std::uint32_t>::max());
    // A number is used once, even if the write fails: who knows what the log holds then.
    const Deposit deposit{.number = ++last_,
                          .size = static_cast<std::uint32_t>(bytes.size()),
                          .hash = stable_hash(bytes)};
    write.Put(database.positions(), deposit_key(deposit.number), slice(bytes));
    added.emplace_back(object, deposit);
  }
  return added;
}

void Deposits::add_pending(std::span<const std::pair<ObjectPtr, Deposit>> added) {
  for (const auto& [object, deposit] : added) {
    pending_[deposit.number] = {.at = object.get(), .object = object, .deposit = deposit};
    by_object_[object.get()] = deposit.number;
  }
  named_.reserve(named_.size() + pending_.size());  // so that the commit need not grow it
}

std::optional<Deposit> Deposits::find(const Object& object) const {
  const auto found = by_object_.find(&object);
  if (found == by_object_.end()) return std::nullopt;
  const Pending& pending = pending_.at(found->second);
  if (pending.object.expired()) return std::nullopt;  // another object at the same address
  return pending.deposit;
}

void Deposits::mark_named(const Object& object, Revision revision) {
  const std::optional<Deposit> deposit = find(object);
  if (!deposit) return;
  named_[revision.value] = deposit->number;
  pending_.erase(deposit->number);
  by_object_.erase(&object);
}

std::vector<std::int64_t> Deposits::find_abandoned(std::size_t looks) {
  std::vector<std::int64_t> abandoned;
  auto at = pending_.upper_bound(looked_up_to_);
  for (looks = std::min(looks, pending_.size()); looks > 0; --looks) {
    if (at == pending_.end()) at = pending_.begin();
    if (at->second.object.expired()) abandoned.push_back(at->first);
    looked_up_to_ = at->first;
    ++at;
  }
  return abandoned;
}

void Deposits::forget(std::span<const std::int64_t> abandoned) {
  for (const std::int64_t number : abandoned) {
    const auto found = pending_.find(number);
    if (found == pending_.end()) continue;
    const auto here = by_object_.find(found->second.at);
    if (here != by_object_.end() && here->second == number) by_object_.erase(here);
    pending_.erase(found);
  }
}

std::optional<std::int64_t> Deposits::named_by(Revision revision) const {
  const auto found = named_.find(revision.value);
  if (found == named_.end()) return std::nullopt;
  return found->second;
}

}  // namespace muster::store
