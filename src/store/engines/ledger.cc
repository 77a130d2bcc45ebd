#include "store/engines/ledger.h"

#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <utility>

namespace muster::store {
namespace {

Error conflict(std::string_view key, Revision expected, Revision actual) {
  if (actual.value == 0)
    return make_error(Reason::Conflict, "{} was expected at revision {}, but does not exist", key,
                      expected.value);
  if (expected.value == 0)
    return make_error(Reason::Conflict, "{} exists already, at revision {}", key, actual.value);
  return make_error(Reason::Conflict, "{} was expected at revision {}, but is at {}", key,
                    expected.value, actual.value);
}

}  // namespace

Ledger::Newest Ledger::newest(std::string_view key, const Staged& staged) const {
  if (const auto found = staged.find(key); found != staged.end()) return found->second;
  if (const auto found = current_.find(key); found != current_.end()) return found->second;
  return {};
}

// What each write of the transaction finds at its key, if all of them find it as expected.
Result<std::vector<Ledger::Newest>> Ledger::admit(const Transaction& transaction,
                                                  const Staged& staged) const {
  std::vector<Newest> found;
  found.reserve(transaction.writes.size());
  boost::unordered_flat_set<std::string_view> keys;
  if (transaction.writes.size() > 1) keys.reserve(transaction.writes.size());
  for (const Write& write : transaction.writes) {
    CHECK_THAT(!write.object || write.object->revision().value == 0,
               "{} was already written at revision {}", write.key, write.object->revision().value);
    if (transaction.writes.size() > 1 && !keys.insert(write.key).second)
      return fail(Reason::BadRequest, "the transaction writes {} twice", write.key);
    Newest before = newest(write.key, staged);
    if (write.replaces != nullptr && before.object != write.replaces)
      return fail(Reason::Conflict, "{} was changed by somebody else", write.key);
    if (write.replaces == nullptr && before.revision != write.expected)
      return fail(conflict(write.key, write.expected, before.revision));
    if (before.revision.value == 0 && !write.object)
      return fail(Reason::Conflict, "{} does not exist and cannot be deleted", write.key);
    if (before.revision.value != 0 && !before.object)
      return fail(Reason::Conflict, "{} holds an object of a kind that this version does not know",
                  write.key);
    found.push_back(std::move(before));
  }
  return found;
}

Ledger::Decision Ledger::decide(std::span<const Transaction> batch) const {
  Decision decision;
  decision.outcomes.reserve(batch.size());
  std::size_t writes = 0;
  for (const Transaction& transaction : batch) writes += transaction.writes.size();
  decision.changes.reserve(writes);
  decision.supersedes.reserve(writes);
  decision.written.reserve(writes);
  Staged staged;
  Revision newest = revision_;
  for (const Transaction& transaction : batch) {
    Result<std::vector<Newest>> admitted = admit(transaction, staged);
    if (!admitted) {
      decision.outcomes.push_back(fail(std::move(admitted).error()));
      continue;
    }
    const bool is_last = &transaction == &batch.back();  // then nobody asks what it staged
    const Revision block_end{newest.value + std::ssize(transaction.writes)};
    for (std::size_t i = 0; i < transaction.writes.size(); ++i) {
      const Write& write = transaction.writes[i];
      Newest& before = (*admitted)[i];
      ++newest.value;
      Change change;
      change.type = !write.object                ? Change::Type::Deleted
                    : before.revision.value == 0 ? Change::Type::Added
                                                 : Change::Type::Modified;
      change.key = write.key;
      change.revision = newest;
      change.block_end = block_end;
      change.object = write.object ? write.object : before.object;
      change.previous = std::move(before.object);
      decision.changes.push_back(std::move(change));
      decision.supersedes.push_back(before.revision);
      decision.written.push_back(write.object);
      if (!is_last)
        staged[write.key] = {.revision = write.object ? newest : Revision{},
                             .object = write.object};
    }
    decision.outcomes.push_back(newest);
  }
  return decision;
}

void Ledger::accept(const Decision& decision) {
  for (std::size_t i = 0; i < decision.changes.size(); ++i) {
    const Change& change = decision.changes[i];
    CHECK(change.revision.value == revision_.value + 1);
    revision_ = change.revision;
    if (change.type == Change::Type::Deleted) {
      current_.erase(change.key);
    } else {
      const bool is_new = change.type == Change::Type::Added;
      decision.written[i]->assign_revision(change.revision,
                                           is_new ? change.revision : change.previous->created());
      current_[change.key] = {.revision = change.revision, .object = change.object};
    }
  }
}

void Ledger::restart(Revision newest) {
  current_.clear();
  revision_ = newest;
}

void Ledger::restore(std::string_view key, Revision revision, ObjectPtr object) {
  CHECK(revision.value > 0 && revision <= revision_);
  current_[std::string(key)] = {.revision = revision, .object = std::move(object)};
}

std::vector<std::pair<std::string, ObjectPtr>> Ledger::objects() const {
  std::vector<std::pair<std::string, ObjectPtr>> objects;
  objects.reserve(current_.size());
  for (const auto& [key, standing] : current_)
    if (standing.object) objects.emplace_back(key, standing.object);
  std::ranges::sort(objects, {}, [](const auto& entry) -> std::string_view { return entry.first; });
  return objects;
}

}  // namespace muster::store
