#include "server/core/write/registry.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/log.h"
#include "server/core/request/errors.h"
#include "server/core/request/selection.h"
#include "server/core/write/binding.h"
#include "server/core/write/context.h"
#include "server/core/write/create.h"
#include "server/core/write/deletion.h"
#include "server/core/write/eviction.h"
#include "server/core/write/group_binding.h"
#include "server/core/write/namespace_cleaner.h"
#include "server/core/write/staging.h"
#include "server/core/write/update.h"

namespace muster::server {
namespace {

using api::Verb;

constexpr std::chrono::hours kEventLife{1};
constexpr std::size_t kExpiredMax = 1'000;  // per call: each is a write

// Kinds that are requests, not objects.
Result<Decision> decide_unstored(Context& context, api::Request& request) {
  if (request.verb != Verb::Create) return fail(method_not_allowed());
  if (request.kind == &api::kinds::group_binding()) return decide_group_binding(context, request);
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
    case Verb::Update: return decide_update(context, request);
    case Verb::Patch: return decide_patch(context, request);
    case Verb::Delete: return decide_delete(context, request);
    case Verb::DeleteCollection: return decide_delete_collection(context, request);
    case Verb::Get:
    case Verb::List:
    case Verb::Watch: break;
  }
  return fail(internal_error("a read was sent to the writer"));
}

// A request is decided completely or not at all, whatever goes wrong in the middle.
Result<Decision> decide_safely(Context& context, api::Request& request) {
  try {
    return decide_verb(context, request);
  } catch (const std::exception& exception) {
    log(LogLevel::Error, "deciding a request about {} \"{}\" threw: {}", request.kind->plural,
        request.name, exception.what());
    return fail(internal_error(exception.what()));
  }
}

// When something last happened to an event.
Time last_seen(const api::Object& event) {
  Time seen = event.meta().creation_time.value_or(Time());
  for (const std::string_view field : {"lastTimestamp", "eventTime", "series.lastObservedTime"})
    if (const auto time = parse_time(skim(event.bytes(), field))) seen = std::max(seen, *time);
  return seen;
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

void Registry::decide(api::Request request, Time now, Reply reply) {
  Context context{.staging = *staging_,
                  .entropy = entropy_,
                  .now = now,
                  .gates = gates_,
                  .role_guard = role_guard_,
                  .validates = validation_ == Validation::On};
  Result<Decision> decision = decide_safely(context, request);
  if (decision)
    staging_->stage(request, *std::move(decision), std::move(reply));
  else
    staging_->answer(std::move(reply), fail(std::move(decision).error()));
}

void Registry::submit(api::Request request, Time now, Reply reply) {
  now_ = std::max(now_, now);
  decide(std::move(request), now, std::move(reply));
  staging_->deliver();
}

void Registry::flush() {
  do {
    staging_->settle();
    if (staging_->take_namespaces_touched()) cleaner_->look_again();
  } while (clean_up());
  staging_->deliver();
}

std::shared_ptr<Batch> Registry::take_batch() {
  if (staging_->take_namespaces_touched()) cleaner_->look_again();
  while (clean_up() && staging_->empty()) {
  }
  staging_->deliver();
  return staging_->take_batch();
}

void Registry::committed() { staging_->committed(); }

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
  const api::Kind& kind = api::kinds::event();
  std::size_t count = 0;
  for (const api::ObjectPtr& event : staging_->list(kind.store_prefix + "/")) {
    if (now - last_seen(*event) < kEventLife) continue;
    api::Request request;
    request.verb = Verb::Delete;
    request.kind = &kind;
    request.version = kind.stored_version;
    request.name_space = event->meta().name_space;
    request.name = event->meta().name;
    decide(std::move(request), now, nullptr);
    if (++count == kExpiredMax) break;
  }
  flush();
}

}  // namespace muster::server
