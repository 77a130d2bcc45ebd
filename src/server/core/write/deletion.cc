#include "server/core/write/deletion.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/scratch.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/strategy.h"
#include "server/core/write/admission.h"

namespace muster::server {
namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

Removal unchanged(const api::ObjectPtr& existing) {
  return {.object = existing, .modified = nullptr, .gone = false};
}

Removal changed(const api::ObjectPtr& existing, const Json& document) {
  auto object = make_object(existing->kind(), document);
  if (object->bytes() == existing->bytes()) return unchanged(existing);
  return {.object = object, .modified = object, .gone = false};
}

// The events MODIFIED (grace period 0) and DELETED that upstream sends here are one DELETED.
Removal gone(api::ObjectPtr last) {
  return {.object = std::move(last), .modified = nullptr, .gone = true};
}

Error precondition_failed(const api::Object& object, std::string_view why) {
  Error error = conflict(object.kind(), object.meta().name, why);
  // Upstream names the Kind here, not the resource.
  error.message = fmt::format(R"(Operation cannot be fulfilled on {} "{}": {})",
                              object.kind().qualified_kind(), object.meta().name, why);
  error.kind = object.kind().kind;
  return error;
}

Result<void> check_preconditions(const api::Object& object, const api::Preconditions& wanted) {
  if (wanted.uid && *wanted.uid != object.meta().uid)
    return fail(precondition_failed(
        object, fmt::format("the UID in the precondition ({}) does not match the UID in record "
                            "({}). The object might have been deleted and then recreated",
                            *wanted.uid, object.meta().uid)));
  const std::string version = to_resource_version(object.revision());
  if (wanted.resource_version && *wanted.resource_version != version)
    return fail(precondition_failed(
        object, fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                            "ResourceVersion in record ({}). The object might have been modified",
                            *wanted.resource_version, version)));
  return {};
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

// The finalizers an object has once the propagation policy is written into them. Who acts on the
// two special ones is the garbage collector; without dependents there is nothing for it to do.
std::vector<std::string> finalizers_after(Context& context, const api::Object& object,
                                          std::string_view policy) {
  const std::vector<std::string>& finalizers = object.meta().finalizers;
  if (object.kind().kind == "Event") return finalizers;
  const bool had_orphan = contains(finalizers, kOrphan);
  const bool had_foreground = contains(finalizers, kForeground);
  bool orphan = had_orphan;
  bool foreground = had_foreground;
  if (!policy.empty()) {
    orphan = policy == "Orphan";
    foreground = policy == "Foreground";
  } else if (!orphan && !foreground) {
    orphan = strategy_of(object.kind()).orphans_dependents();
  }
  if ((orphan || foreground) && !context.staging.has_dependents(object))
    orphan = foreground = false;
  // Only these two may change. An object may have twenty thousand others, so that to compare the
  // lists name by name would take everybody's time.
  if (orphan == had_orphan && foreground == had_foreground) return finalizers;
  std::vector<std::string> out;
  for (const std::string& finalizer : finalizers)
    if (finalizer != kOrphan && finalizer != kForeground) out.push_back(finalizer);
  if (orphan) out.emplace_back(kOrphan);
  if (foreground) out.emplace_back(kForeground);
  return out;
}

void set_finalizers(Json& document, const std::vector<std::string>& finalizers) {
  JsonArray list;
  for (const std::string& finalizer : finalizers) list.emplace_back(finalizer);
  if (list.empty())
    metadata(document).erase("finalizers");
  else
    metadata(document)["finalizers"] = std::move(list);
}

// What a grace period asks for: nothing new, or the document marked accordingly.
struct Grace {
  bool pending = false;                  // a deletion that is at least as soon is on its way
  std::optional<std::int64_t> period_s;  // set if the kind is deleted gracefully
};

// No longer than this, or the time at which the object goes would have a year of five digits, which
// nobody can read: clients fail, and we take the object for one that is not being deleted.
std::int64_t longest_grace(Time now) {
  using std::chrono::floor;
  using std::chrono::seconds;
  constexpr Time kEnd{std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1}};
  return std::max<std::int64_t>(floor<seconds>(kEnd - now).count() - 1, 0);
}

Grace begin_grace(const api::Object& object, const api::DeleteOptions& options, Time now,
                  Json& document) {
  std::optional<std::int64_t> asked = options.grace_period_s;
  if (asked && *asked < 0) asked = 1;
  const api::ObjectMeta& meta = object.meta();
  if (meta.deletion_time) {
    if (!strategy_of(object.kind()).deletes_gracefully() || !meta.deletion_grace_s) return {};
    if (!asked || *asked >= *meta.deletion_grace_s) return {.pending = true, .period_s = {}};
    // Nothing was deleted before 1970, whatever a store that an older version wrote says.
    const std::int64_t earlier = std::min(
        *meta.deletion_grace_s - *asked,
        std::chrono::floor<std::chrono::seconds>(*meta.deletion_time).time_since_epoch().count());
    mark_deleted(document, *meta.deletion_time - std::chrono::seconds(earlier), *asked);
    return {.pending = false, .period_s = asked};
  }
  auto period = strategy_of(object.kind()).grace_period(document, asked);
  if (!period) return {};
  period = std::min(*period, longest_grace(now));
  mark_deleted(document, now + std::chrono::seconds(*period), *period);
  bump_generation(document);
  return {.pending = false, .period_s = period};
}

// Namespaces are emptied first (namespace_cleaner.h); spec.finalizers says who still has to.
Removal begin_termination(const api::ObjectPtr& existing, Time now, Json document) {
  if (!existing->meta().deletion_time) {
    metadata(document)["deletionTimestamp"] = format_time(now);
    api::ensure_object(document.get_object(), "status")["phase"] = "Terminating";
  }
  return changed(existing, document);
}

}  // namespace

Result<void> check_delete_options(const api::DeleteOptions& options) {
  const std::string& policy = options.propagation_policy;
  if (policy.empty() || policy == "Orphan" || policy == "Background" || policy == "Foreground")
    return {};
  return fail(invalid(
      Subject{.group = "meta.k8s.io", .kind = "DeleteOptions"},
      {{.type = "FieldValueNotSupported",
        .field = "propagationPolicy",
        .message = fmt::format(R"(Unsupported value: "{}": supported values: "Foreground", )"
                               R"("Background", "Orphan", "nil")",
                               policy)}}));
}

Result<Removal> remove_object(Context& context, const api::ObjectPtr& existing,
                              const api::DeleteOptions& options, const Mark& mark) {
  const Time now = context.now;
  TRY(check_preconditions(*existing, options.preconditions));
  TRY(admit_delete(*existing));
  api::Scratch scratch;
  Json document = api::document_in(scratch, *existing);
  if (mark) mark(document);
  if (&existing->kind() == &api::kinds::name_space() &&
      (!existing->meta().deletion_time || !text_list(document, "spec.finalizers").empty()))
    return begin_termination(existing, now, std::move(document));

  const Grace grace = begin_grace(*existing, options, now, document);
  if (grace.pending) return unchanged(existing);
  const std::vector<std::string> finalizers =
      finalizers_after(context, *existing, options.propagation_policy);
  set_finalizers(document, finalizers);
  if (finalizers.empty() && grace.period_s.value_or(0) == 0)
    return gone(grace.period_s ? make_object(existing->kind(), document) : existing);
  if (!grace.period_s) {
    const bool first = !existing->meta().deletion_time;
    mark_deleted(document, existing->meta().deletion_time.value_or(now), 0);
    if (first) bump_generation(document);
  }
  return changed(existing, document);
}

void add_removal(store::Transaction& transaction, const api::ObjectPtr& existing,
                 const Removal& removal) {
  if (!removal.gone && !removal.modified) return;
  const api::ObjectMeta& meta = existing->meta();
  transaction.writes.push_back(
      {.key = store::make_key(existing->kind(), meta.name_space, meta.name),
       .object = removal.modified,
       .expected = existing->revision()});
}

Result<Decision> decide_delete(Context& context, const api::Request& request) {
  const api::Kind& kind = *request.kind;
  if (!request.subresource.empty()) return fail(method_not_allowed());
  TRY(check_delete_options(request.remove));
  const api::ObjectPtr existing =
      context.staging.get(store::make_key(kind, request.name_space, request.name));
  if (!existing) return fail(not_found(kind, request.name));
  return decide_removal(context, existing, request.remove);
}

Result<Decision> decide_removal(Context& context, const api::ObjectPtr& existing,
                                const api::DeleteOptions& options, const Mark& mark) {
  const api::Kind& kind = existing->kind();
  const Removal removal = TRY(remove_object(context, existing, options, mark));
  Decision decision;
  add_removal(decision.transaction, existing, removal);
  decision.deleted = removal.gone;
  if (removal.gone && !kind.answers_delete_with_object)
    decision.answer.what = api::StatusAnswer{.code = 200,
                                             .name = existing->meta().name,
                                             .group = kind.group,
                                             .kind = kind.plural,
                                             .uid = existing->meta().uid};
  else
    decision.answer.what = api::ObjectAnswer{
        .object = removal.object, .revision = existing->revision(), .created = false};
  return decision;
}

bool goes_with_update(const api::Object& existing, const Json& updated) {
  if (!existing.meta().deletion_time || existing.meta().deletion_grace_s.value_or(0) != 0)
    return false;
  if (!text_list(updated, "metadata.finalizers").empty()) return false;
  return &existing.kind() != &api::kinds::name_space() ||
         text_list(updated, "spec.finalizers").empty();
}

}  // namespace muster::server
