#include "server/core/write/registry.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "server/core/request/errors.h"
#include "server/core/request/scale_view.h"
#include "server/core/write/binding.h"
#include "server/core/write/collection_deletion.h"
#include "server/core/write/context.h"
#include "server/core/write/create.h"
#include "server/core/write/deletion.h"
#include "server/core/write/event_expiry.h"
#include "server/core/write/eviction.h"
#include "server/core/write/group_binding.h"
#include "server/core/write/namespace_cleaner.h"
#include "server/core/write/quota.h"
#include "server/core/write/quota_change.h"
#include "server/core/write/scale.h"
#include "server/core/write/sliced_request.h"
#include "server/core/write/staging.h"
#include "server/core/write/update.h"

namespace muster::server {
namespace {

using api::Verb;

// Kinds that are requests, not objects.
Result<Decision> decide_unstored(Context& context, api::Request& request) {
  if (request.verb != Verb::Create) return fail(method_not_allowed());
  if (request.kind->kind == "Binding") return decide_named_binding(context, request);
  return fail(method_not_allowed());
}

Result<Decision> decide_verb(Context& context, api::Request& request) {
  if (!request.kind->stored) return decide_unstored(context, request);
  switch (request.verb) {
    case Verb::Create:
      if (request.subresource.empty()) return decide_create(context, request);
      if (request.subresource == "binding" && request.kind == &api::kinds::pod())
        return decide_binding(context, request);
      if (request.subresource == "eviction" && request.kind == &api::kinds::pod())
        return decide_eviction(context, request);
      return fail(method_not_allowed());
    case Verb::Update:
      if (request.subresource == kScale) return decide_scale_update(context, request);
      return decide_update(context, request);
    case Verb::Patch:
      if (request.subresource == kScale) return decide_scale_patch(context, request);
      return decide_patch(context, request);
    case Verb::Delete: return decide_delete(context, request);
    case Verb::DeleteCollection:
    case Verb::Get:
    case Verb::List:
    case Verb::Watch: break;
  }
  return fail(internal_error("no write to be decided at once"));
}

Error thrown(const api::Request& request, const std::exception& exception) {
  log(LogLevel::Error, "deciding a request about {} \"{}\" threw: {}", request.kind->plural,
      request.name, exception.what());
  return internal_error(exception.what());
}

// A request is decided completely or not at all, whatever goes wrong in the middle.
Result<Decision> decide_safely(Context& context, api::Request& request) {
  try {
    Result<Decision> decision = decide_verb(context, request);
    if (decision) TRY(charge_quotas(context, request, *decision));
    return decision;
  } catch (const std::exception& exception) {
    return fail(thrown(request, exception));
  }
}

// Requests about any number of objects; null for all others.
std::unique_ptr<SlicedRequest> make_sliced(api::Request& request, Reply& reply) {
  if (request.verb == Verb::DeleteCollection && request.kind->stored)
    return make_collection_deletion(std::move(request), std::move(reply));
  if (request.verb == Verb::Create && request.kind == &api::kinds::group_binding())
    return make_group_binding(std::move(request), std::move(reply));
  if (changes_quota(request))
    return make_quota_change(std::move(request), std::move(reply), decide_safely);
  return nullptr;
}

bool step_safely(Context& context, SlicedRequest& request) {
  try {
    return request.step(context);
  } catch (const std::exception& exception) {
    request.refuse(context.staging, thrown(request.request(), exception));
    return true;
  }
}

}  // namespace

Registry::Registry(store::Store& store, Entropy& entropy, Validation validation,
                   const api::Gates& gates)
    : entropy_(entropy),
      validation_(validation),
      gates_(gates),
      staging_(std::make_unique<Staging>(store)),
      cleaner_(std::make_unique<NamespaceCleaner>(store)) {}

Registry::~Registry() = default;

Context Registry::context(Time now) {
  return {.staging = *staging_,
          .entropy = entropy_,
          .now = now,
          .gates = gates_,
          .role_guard = role_guard_,
          .absent = absent_,
          .stored_bytes_max = stored_bytes_max_,
          .validates = validation_ == Validation::On};
}

void Registry::decide(api::Request request, Time now, Reply reply) {
  if (auto sliced = make_sliced(request, reply)) {
    begin(std::move(sliced), now);
    return;
  }
  Context here = context(now);
  Result<Decision> decision = decide_safely(here, request);
  if (decision)
    staging_->stage(request, *std::move(decision), std::move(reply));
  else
    staging_->answer(std::move(reply), fail(std::move(decision).error()));
}

void Registry::begin(std::unique_ptr<SlicedRequest> request, Time now) {
  Context here = context(now);
  if (!step_safely(here, *request))
    unfinished_.push_back({.request = std::move(request), .now = now});
}

void Registry::submit(api::Request request, Time now, Reply reply) {
  now_ = std::max(now_, now);
  decide(std::move(request), now, std::move(reply));
  staging_->deliver();
}

void Registry::work() {
  if (unfinished_.empty()) return;
  Unfinished next = std::move(unfinished_.front());
  unfinished_.pop_front();
  Context here = context(next.now);
  if (!step_safely(here, *next.request)) unfinished_.push_back(std::move(next));
  staging_->deliver();
}

void Registry::refuse_unfinished() {
  for (const Unfinished& each : std::exchange(unfinished_, {}))
    each.request->refuse(*staging_, make_error(Reason::ServiceUnavailable,
                                               "the server is stopping, please try again later"));
  staging_->deliver();
}

void Registry::flush() {
  do {
    while (!unfinished_.empty()) work();
    staging_->commit_now();
    if (staging_->pop_namespaces_touched()) cleaner_->look_again();
  } while (clean_up() || !unfinished_.empty());
  staging_->deliver();
}

std::shared_ptr<Batch> Registry::begin_commit() {
  if (staging_->pop_namespaces_touched()) cleaner_->look_again();
  while (clean_up() && staging_->empty()) {
  }
  staging_->deliver();
  return staging_->begin_commit();
}

void Registry::end_commit() { staging_->end_commit(); }

std::size_t Registry::staged_bytes() const { return staging_->bytes(); }

void Registry::set_await(std::function<void()> await) { staging_->set_await(std::move(await)); }

bool Registry::clean_up() {
  return cleaner_->run([this](api::Request request) {
    decide(std::move(request), now_, [](const Result<api::Answer>& answer) {
      if (!answer) log(LogLevel::Warning, "emptying a namespace: {}", answer.error().message);
    });
  });
}

void Registry::expire(Time now) {
  now_ = std::max(now_, now);
  begin(make_event_expiry(), now);
  staging_->deliver();
}

}  // namespace muster::server
