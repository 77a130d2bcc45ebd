#include "server/core/write/staging.h"

#include "base/check.h"

namespace muster::server {

api::ObjectPtr Staging::get(const std::string& key) {
  if (committing_ && committing_->writes(key)) await_commit();
  if (open_->writes(key)) commit_now();
  return store_.get(key);
}

std::vector<api::ObjectPtr> Staging::list(const std::string& prefix) {
  await_commit(prefix);
  return store_.list(prefix).objects;
}

void Staging::await_commit(const std::string& prefix) {
  if (committing_ && committing_->writes_below(prefix)) await_commit();
  if (open_->writes_below(prefix)) commit_now();
}

std::vector<api::ObjectPtr> Staging::list_newest(const std::string& prefix) {
  if (committing_ && committing_->writes_apart_below(prefix)) await_commit();
  if (open_->writes_apart_below(prefix)) commit_now();
  std::vector<api::ObjectPtr> objects = store_.list(prefix).objects;
  for (api::ObjectPtr& object : objects) {
    const std::string key =
        store::make_key(object->kind(), object->meta().name_space, object->meta().name);
    api::ObjectPtr newest = open_->newest(key);
    if (newest == nullptr && committing_) newest = committing_->newest(key);
    if (newest != nullptr) object = std::move(newest);
  }
  return objects;
}

bool Staging::has_dependents(const api::Object& owner) {
  const std::string& uid = owner.meta().uid;
  if (committing_ && committing_->touches_dependents(uid)) await_commit();
  if (open_->touches_dependents(uid)) commit_now();
  return owners_.has_dependents(owner);
}

const ServiceIndex& Staging::services() {
  static const std::string kPrefix = api::find_kind("", "Service")->store_prefix + "/";
  if (committing_ && committing_->writes_below(kPrefix)) await_commit();
  if (open_->writes_below(kPrefix)) commit_now();
  return services_;
}

void Staging::stage(const api::Request& request, Decision decision, Reply reply) {
  if (decision.transaction.writes.empty() || request.dry_run)
    answer(std::move(reply), answer_of(std::move(decision)));
  else
    add(request, std::move(decision), std::move(reply));
}

void Staging::stage_in_order(const api::Request& request, Decision decision, Reply reply) {
  if (request.dry_run)
    answer(std::move(reply), answer_of(std::move(decision)));
  else
    add(request, std::move(decision), std::move(reply));
}

void Staging::add(const api::Request& request, Decision decision, Reply reply) {
  // Who is named as owner may change with what is written, and with what it replaces.
  for (const store::Write& write : decision.transaction.writes) {
    const api::ObjectPtr before = write.expected.value == 0 ? nullptr : store_.get(write.key);
    if (before && write.object && name_same_owners(*before, *write.object)) continue;
    if (write.object) open_->note_owners(*write.object);
    if (before) open_->note_owners(*before);
  }
  open_->add(request, std::move(decision), std::move(reply));
}

void Staging::answer(Reply reply, Result<api::Answer> answer) {
  due_.emplace_back(std::move(reply), std::move(answer));
}

void Staging::commit_now() {
  await_commit();
  const std::shared_ptr<Batch> batch = begin_commit();
  if (!batch) return;
  batch->commit(store_);
  end_commit();
  committed_.push_back(batch);
}

void Staging::deliver() {
  while (!committed_.empty() || !due_.empty()) {
    const auto committed = std::exchange(committed_, {});
    auto due = std::exchange(due_, {});
    for (const std::shared_ptr<Batch>& batch : committed) batch->answer();
    for (auto& [reply, answer] : due)
      if (reply) reply(std::move(answer));
  }
}

std::shared_ptr<Batch> Staging::begin_commit() {
  CHECK_THAT(!committing_, "a batch is handed over while another is being committed");
  if (open_->empty()) return nullptr;
  committing_ = std::exchange(open_, std::make_shared<Batch>());
  return committing_;
}

void Staging::end_commit() {
  if (!committing_) return;
  namespaces_touched_ |= committing_->writes_below(api::kinds::name_space().store_prefix + "/");
  committing_ = nullptr;
}

void Staging::await_commit() {
  if (!committing_) return;
  await_();
  end_commit();
}

}  // namespace muster::server
