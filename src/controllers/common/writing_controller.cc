#include "controllers/common/writing_controller.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {

void WritingController::begin_look(const std::string& key) {
  failing_.erase(key);
  own_writes_.begin_look(key);
}

bool WritingController::waits(const std::string& key, Time now) {
  const std::optional<Time> until = own_writes_.wait_until(key, now);
  if (until) work().add_at(*until, key);
  return until.has_value();
}

void WritingController::showed(const std::string& key, const Change& change) {
  if (own_writes_.showed(key, change.newest(),
                         {.gone = change.after == nullptr, .under_way = work().is_held(key)}))
    work().add(key, change.at);
}

WritingController::Keys WritingController::showed_itself(const Change& change) {
  std::string key = api::key_text(change.newest().meta());
  showed(key, change);
  return {std::move(key)};
}

void WritingController::write_call(const std::string& key, api::Request request, Also also) {
  call(key, std::move(request),
       [this, key, also = std::move(also)](const client::Outcome& outcome, Time now) {
         on_written(key, outcome, now);
         if (also) also(outcome, now);
       });
}

struct WritingController::Batch {
  std::string key;
  std::vector<api::Request> requests;
  BatchOptions options;
  OnEach on_each;
  std::size_t next = 0;  // not sent yet
  std::size_t size = 1;  // of the batch that is under way
  std::size_t under_way = 0;
  bool failed = false;
};

void WritingController::write_in_batches(const std::string& key, std::vector<api::Request> requests,
                                         BatchOptions options, OnEach on_each) {
  if (requests.empty()) return;
  const auto batch = std::make_shared<Batch>();
  batch->key = key;
  batch->requests = std::move(requests);
  batch->options = options;
  batch->on_each = std::move(on_each);
  send_batch(batch);
}

void WritingController::send_batch(const BatchPtr& batch) {
  const std::size_t end = std::min(batch->requests.size(), batch->next + batch->size);
  batch->under_way = end - batch->next;
  // Outcomes may arrive before the last call is made.
  for (std::size_t at = std::exchange(batch->next, end); at < end; ++at)
    write_call(batch->key, std::move(batch->requests[at]),
               [this, batch, at](const client::Outcome& outcome, Time now) {
                 on_batched(batch, at, outcome, now);
               });
}

void WritingController::on_batched(const BatchPtr& batch, std::size_t index,
                                   const client::Outcome& outcome, Time now) {
  if (batch->on_each(index, outcome, now)) batch->failed = true;
  if (--batch->under_way > 0) return;
  if (batch->failed) return retry_once(batch->key, now);
  if (batch->next == batch->requests.size()) return;
  batch->size = batch->options.all_after_first ? batch->requests.size() : batch->size * 2;
  send_batch(batch);
}

void WritingController::on_written(const std::string& key, const client::Outcome& outcome,
                                   Time now) {
  if (!outcome) {
    // What is gone needs nothing more: the feed will show it.
    if (outcome.error().reason != Reason::NotFound) retry_once(key, now);
    return;
  }
  if (const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what)) {
    const api::Object& object = *answer->object;
    const client::Mirror* mirror = mirror_of(object.kind());
    const api::ObjectPtr shown =
        mirror == nullptr ? nullptr : mirror->find(object.meta().name_space, object.meta().name);
    const bool seen = shown != nullptr && shown->meta().uid == object.meta().uid &&
                      shown->revision() >= answer->revision;
    if (mirror != nullptr && !seen)
      own_writes_.wrote(key, object.meta().uid, answer->revision, now);
  }
  // If the feeds were faster than the answer, nothing else would lead to the next look.
  if (!waits(key, now)) work().add(key, now);
}

void WritingController::retry_once(const std::string& key, Time now) {
  if (failing_.insert(key).second) work().retry(key, now);
}

bool is_name_space_ending(const Error& error) {
  return std::ranges::any_of(
      error.causes, [](const Cause& cause) { return cause.type == "NamespaceTerminating"; });
}

}  // namespace muster::controllers
