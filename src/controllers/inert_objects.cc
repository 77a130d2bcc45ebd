#include "controllers/inert_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/scratch.h"

namespace muster::controllers {
namespace {

bool has_controller(const api::Object& object) {
  return std::ranges::any_of(object.meta().owners, &api::OwnerReference::controller);
}

// The server's own, of which it has nothing to say to anybody.
bool is_of_server(const api::Object& object) {
  return object.meta().name_space == "default" && object.meta().name == "kubernetes";
}

// A bucket of `burst` tokens, kept as the time at which it is full again (GCRA).
bool has_token(Time full, const InertObjects::Rate& rate, Time now) {
  return std::max(full, now) - now <= rate.refill * (rate.burst - 1);
}
void spend(Time& full, const InertObjects::Rate& rate, Time now) {
  full = std::max(full, now) + rate.refill;
}

}  // namespace

InertObjects::InertObjects(api::Absent absent, client::ComponentContext context)
    : Controller("inert-objects", std::move(context), watches()), absent_(std::move(absent)) {}

std::vector<client::Controller::Watch> InertObjects::watches() {
  std::vector<Watch> out;
  for (const api::Kind* kind : api::all_kinds())
    if (api::may_be_inert(*kind))
      out.push_back({.kind = kind, .keys_of = [this](const Change& change) {
                       if (change.after != nullptr)
                         look_at(change.after, change.at);
                       else
                         seen_.erase(change.before->meta().uid);
                       return Keys();
                     }});
  return out;
}

void InertObjects::look_at(const api::ObjectPtr& object, Time now) {
  const api::ObjectMeta& meta = object->meta();
  const bool is_new = meta.creation_time && now - *meta.creation_time <= kNewFor;
  if (!is_new && absent_.empty()) return;
  if (meta.deletion_time || has_controller(*object) || is_of_server(*object)) return;
  if (!api::could_be_inert(object->kind(), object->bytes(), absent_)) return;
  if (std::exchange(seen_.use(meta.uid), true)) return;
  api::Scratch scratch;
  const std::vector<std::string> sentences =
      api::inert_sentences(object->kind(), api::document_in(scratch, *object), absent_,
                           is_new ? api::InertBecause::Anything : api::InertBecause::SwitchedOff);
  if (sentences.empty() || !may_speak(*object, now)) return;
  record(*object,
         {.type = "Warning",
          .reason = std::string(kReason),
          .action = "Storing",
          .message = fmt::format("{}", fmt::join(sentences, "; "))},
         now);
}

bool InertObjects::may_speak(const api::Object& about, Time now) {
  Time& full = full_by_kind_.use(about.kind().qualified_plural() + "/" + about.meta().name_space);
  if (!has_token(full, kRatePerKind, now) || !has_token(full_, kRate, now)) return false;
  spend(full, kRatePerKind, now);
  spend(full_, kRate, now);
  return true;
}

}  // namespace muster::controllers
