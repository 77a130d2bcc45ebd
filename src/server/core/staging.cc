#include "server/core/staging.h"

#include <optional>

#include "base/check.h"
#include "server/core/errors.h"

namespace muster::server {
namespace {

// An answer learns its revision when its writes are durable.
void complete(Decision& decision, api::Revision block_end) {
  if (auto* object = std::get_if<api::ObjectAnswer>(&decision.answer.what))
    object->revision = decision.deleted ? block_end : object->object->revision();
  else if (auto* list = std::get_if<api::ListAnswer>(&decision.answer.what))
    list->revision = block_end;
}

api::Answer answer_of(Decision decision) {
  const auto* object = std::get_if<api::ObjectAnswer>(&decision.answer.what);
  if (decision.shown_as != nullptr && object != nullptr)
    decision.answer.what = decision.shown_as(*object->object, object->revision);
  return std::move(decision.answer);
}

}  // namespace

api::ObjectPtr Staging::get(const std::string& key) {
  if (keys_.contains(key)) settle();
  return store_.get(key);
}

std::vector<api::ObjectPtr> Staging::list(const std::string& prefix) {
  if (has_prefix(prefix)) settle();
  return store_.list(prefix).objects;
}

bool Staging::has_prefix(const std::string& prefix) const {
  const auto at = keys_.lower_bound(prefix);
  return at != keys_.end() && at->starts_with(prefix);
}

void Staging::stage(const api::Request& request, Decision decision, Reply reply) {
  if (decision.transaction.writes.empty() || request.dry_run) {
    answer(std::move(reply), answer_of(std::move(decision)));
    return;
  }
  for (const store::Write& write : decision.transaction.writes) {
    const bool fresh = keys_.insert(write.key).second;
    CHECK_THAT(fresh, "{} is written twice in one batch", write.key);
    touched_.insert(write.key.substr(0, write.key.find('/') + 1));
  }
  const bool creates = decision.transaction.writes.front().expected.value == 0;
  transactions_.push_back(std::move(decision.transaction));
  staged_.push_back({.kind = request.kind,
                     .name = request.name,
                     .creates = creates,
                     .decision = std::move(decision),
                     .reply = std::move(reply)});
}

void Staging::answer(Reply reply, Result<api::Answer> answer) {
  due_.emplace_back(std::move(reply), std::move(answer));
}

void Staging::settle() {
  if (transactions_.empty()) return;
  std::vector<store::Transaction> transactions = std::exchange(transactions_, {});
  std::vector<Staged> staged = std::exchange(staged_, {});
  keys_.clear();

  const auto outcomes = store_.commit(transactions);
  for (std::size_t i = 0; i < staged.size(); ++i) {
    Staged& done = staged[i];
    if (!outcomes) {
      // The store may or may not hold the writes: the client must look before it tries again, so
      // there is no Retry-After.
      answer(std::move(done.reply),
             fail(Reason::ServiceUnavailable, "the store failed: {}", outcomes.error().message));
      continue;
    }
    const Result<api::Revision>& outcome = (*outcomes)[i];
    if (outcome) {
      complete(done.decision, *outcome);
      if (done.decision.complete) done.decision.complete(done.decision.answer, *outcome);
      answer(std::move(done.reply), answer_of(std::move(done.decision)));
    } else if (outcome.error().reason == Reason::Conflict) {
      // Only where others write to the same engine: somebody was faster.
      answer(std::move(done.reply), fail(done.creates ? already_exists(*done.kind, done.name)
                                                      : modified_meanwhile(*done.kind, done.name)));
    } else {
      answer(std::move(done.reply), fail(outcome.error()));
    }
  }
}

void Staging::deliver() {
  while (!due_.empty()) {
    auto due = std::exchange(due_, {});
    for (auto& [reply, answer] : due)
      if (reply) reply(std::move(answer));
  }
}

}  // namespace muster::server
