#include "server/core/write/batch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "server/core/request/errors.h"

namespace muster::server {
namespace {

// An answer learns its revision when its writes are durable.
void complete(Decision& decision, api::Revision block_end) {
  if (auto* object = std::get_if<api::ObjectAnswer>(&decision.answer.what))
    object->revision = decision.deleted ? block_end : object->object->revision();
  else if (auto* list = std::get_if<api::ListAnswer>(&decision.answer.what))
    list->revision = block_end;
  if (decision.complete) decision.complete(decision.answer, block_end);
}

}  // namespace

api::Answer answer_of(Decision decision) {
  const auto* object = std::get_if<api::ObjectAnswer>(&decision.answer.what);
  if (decision.shown_as != nullptr && object != nullptr)
    decision.answer.what = decision.shown_as(*object->object, object->revision);
  return std::move(decision.answer);
}

void Batch::add(const api::Request& request, Decision decision, Reply reply) {
  for (const store::Write& write : decision.transaction.writes) {
    if (write.replaces != nullptr) {
      CHECK_THAT(!keys_.contains(write.key), "{} is written in two ways in one batch", write.key);
      chains_.insert_or_assign(write.key, write.object);
    } else {
      const bool fresh = !chains_.contains(write.key) && keys_.insert(write.key).second;
      CHECK_THAT(fresh, "{} is written twice in one batch", write.key);
    }
    if (write.object) bytes_ += write.object->bytes().size();
  }
  const std::vector<store::Write>& writes = decision.transaction.writes;
  const auto own = std::ranges::find(writes, nullptr, &store::Write::replaces);
  const bool creates = own != writes.end() && own->expected.value == 0;
  transactions_.push_back(std::move(decision.transaction));
  waiting_.push_back({.kind = request.kind,
                      .name = request.name,
                      .creates = creates,
                      .decision = std::move(decision),
                      .reply = std::move(reply)});
}

bool Batch::writes_apart_below(std::string_view prefix) const {
  const auto at = keys_.lower_bound(prefix);
  return at != keys_.end() && at->starts_with(prefix);
}

bool Batch::writes_below(std::string_view prefix) const {
  if (writes_apart_below(prefix)) return true;
  const auto at = chains_.lower_bound(prefix);
  return at != chains_.end() && at->first.starts_with(prefix);
}

api::ObjectPtr Batch::newest(std::string_view key) const {
  const auto at = chains_.find(key);
  return at == chains_.end() ? nullptr : at->second;
}

void Batch::note_owners(const api::Object& object) {
  for (const api::OwnerReference& owner : object.meta().owners) owners_.insert(owner.uid);
}

void Batch::deposit(std::vector<api::ObjectPtr> objects) {
  for (api::ObjectPtr& object : objects) {
    bytes_ += object->bytes().size();
    deposits_.push_back(std::move(object));
  }
}

void Batch::commit(store::Store& store) {
  // If it fails, the store's health says so, and the decision is committed without it.
  if (!deposits_.empty()) std::ignore = store.deposit(deposits_);
  if (!transactions_.empty()) outcomes_ = store.commit(transactions_);
}

Result<api::Answer> Batch::outcome(Waiting waiting, const Result<api::Revision>& committed) {
  if (committed) {
    complete(waiting.decision, *committed);
    return answer_of(std::move(waiting.decision));
  }
  if (committed.error().reason != Reason::Conflict) return fail(committed.error());
  // Only where others write to the same engine: somebody was faster.
  return fail(waiting.creates ? already_exists(*waiting.kind, waiting.name)
                              : modified_meanwhile(*waiting.kind, waiting.name));
}

void Batch::answer() {
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Reply reply = std::exchange(waiting[i].reply, nullptr);
    if (!reply) continue;  // all slices of a request but the last
    // A store that failed may or may not hold the writes: the client must look before it tries
    // again, so there is no Retry-After.
    Result<api::Answer> answer =
        outcomes_
            ? outcome(std::move(waiting[i]), (*outcomes_)[i])
            : fail(Reason::ServiceUnavailable, "the store failed: {}", outcomes_.error().message);
    reply(std::move(answer));
  }
}

}  // namespace muster::server
