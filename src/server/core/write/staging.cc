#include "server/core/write/staging.h"

#include "base/check.h"

namespace muster::server {

api::ObjectPtr Staging::get(const std::string& key) {
  if (away_ && away_->writes(key)) land();
  if (open_->writes(key)) settle();
  return store_.get(key);
}

std::vector<api::ObjectPtr> Staging::list(const std::string& prefix) {
  if (away_ && away_->writes_below(prefix)) land();
  if (open_->writes_below(prefix)) settle();
  return store_.list(prefix).objects;
}

void Staging::stage(const api::Request& request, Decision decision, Reply reply) {
  if (decision.transaction.writes.empty() || request.dry_run)
    answer(std::move(reply), answer_of(std::move(decision)));
  else
    open_->add(request, std::move(decision), std::move(reply));
}

void Staging::answer(Reply reply, Result<api::Answer> answer) {
  due_.emplace_back(std::move(reply), std::move(answer));
}

void Staging::settle() {
  land();
  const std::shared_ptr<Batch> batch = take_batch();
  if (!batch) return;
  batch->commit(store_);
  committed();
  settled_.push_back(batch);
}

void Staging::deliver() {
  while (!settled_.empty() || !due_.empty()) {
    const auto settled = std::exchange(settled_, {});
    auto due = std::exchange(due_, {});
    for (const std::shared_ptr<Batch>& batch : settled) batch->answer();
    for (auto& [reply, answer] : due)
      if (reply) reply(std::move(answer));
  }
}

std::shared_ptr<Batch> Staging::take_batch() {
  CHECK_THAT(!away_, "a batch is taken while another is being committed");
  if (open_->empty()) return nullptr;
  away_ = std::exchange(open_, std::make_shared<Batch>());
  return away_;
}

void Staging::committed() {
  if (!away_) return;
  namespaces_touched_ |= away_->writes_below(api::kinds::name_space().store_prefix + "/");
  away_ = nullptr;
}

void Staging::land() {
  if (!away_) return;
  await_();
  committed();
}

}  // namespace muster::server
