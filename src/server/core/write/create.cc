#include "server/core/write/create.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "api/conversion.h"
#include "api/decode.h"
#include "server/core/request/errors.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/strategy.h"
#include "server/core/write/admission.h"
#include "server/core/write/crowd_limit.h"
#include "server/core/write/field_ownership.h"
#include "server/core/write/ownership.h"
#include "server/core/write/quota.h"
#include "server/core/write/service_account.h"
#include "server/core/write/stored_limit.h"

namespace muster::server {
namespace {

constexpr int kNameTries = 8;
constexpr std::size_t kPrefixMax = 58;
constexpr std::size_t kSuffixLength = 5;

// What only the server says of a new object.
void wipe(Json& document) {
  JsonObject& meta = metadata(document);
  for (const std::string_view member :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"})
    meta.erase(member);
}

// Draws names until one is free. AlreadyExists if the prefix is crowded.
Result<std::string> generate_name(Context& context, const api::Request& request,
                                  std::string_view prefix) {
  std::string name;
  for (int i = 0; i < kNameTries; ++i) {
    name =
        std::string(prefix.substr(0, kPrefixMax)) + random_suffix(context.entropy, kSuffixLength);
    if (!context.staging.get(store::make_key(*request.kind, request.name_space, name))) return name;
  }
  Error error = already_exists(*request.kind, name);
  error.message += ", the server was not able to generate a unique name for the object";
  error.retry_after_s = 1;
  return fail(std::move(error));
}

// Name, uid and times. Comes before the strategy: Jobs label their pods with name and uid.
Result<void> set_identity(Context& context, api::Request& request, Json& document) {
  JsonObject& meta = metadata(document);
  if (const auto prefix = meta_text(document, "generateName");
      !prefix.empty() && meta_text(document, "name").empty())
    meta["name"] = TRY(generate_name(context, request, prefix));
  if (request.kind->keeps_generation) meta["generation"] = 1;
  meta["creationTimestamp"] = format_time(context.now);
  meta["uid"] = random_uuid(context.entropy);
  request.name = meta_text(document, "name");
  return {};
}

Error exists_already(const api::Object& standing) {
  Error error = already_exists(standing.kind(), standing.meta().name);
  if (standing.meta().deletion_time) error.message.insert(0, "object is being deleted: ");
  return error;
}

}  // namespace

Result<void> set_namespace(const api::Request& request, Json& document) {
  JsonObject& meta = metadata(document);
  if (!request.kind->namespaced) {
    meta.erase("namespace");
    return {};
  }
  const std::string_view said = meta_text(document, "namespace");
  if (!said.empty() && said != request.name_space)
    return fail(Reason::BadRequest,
                "the namespace of the provided object does not match the namespace sent on the "
                "request");
  meta["namespace"] = request.name_space;
  return {};
}

Result<Decision> decide_create(Context& context, api::Request& request) {
  const api::Kind& kind = *request.kind;
  const api::Kind& stored = api::stored_kind(kind);
  Json document = std::exchange(request.body, nullptr);
  api::to_stored(kind, document);
  TRY(set_namespace(request, document));
  if (!meta_text(document, "resourceVersion").empty())
    return fail(Reason::BadRequest, "resourceVersion should not be set on objects to be created");
  api::Answer answer;
  answer.warnings = std::move(request.warnings);
  wipe(document);
  TRY(check_values(document, nullptr));  // cheaper than to give defaults to them all first
  strategy_of(kind).predefault(document);
  api::apply_defaults(*stored.message, document);
  strategy_of(kind).set_defaults(document);
  TRY(check_values(document, nullptr));
  drop_duplicate_owners(document, answer.warnings);
  record_write(context, request, nullptr, document);

  TRY(admit_create(context, request, document));
  TRY(check_values(document, nullptr));  // what admission added, too: later writes will count it
  TRY(set_identity(context, request, document));
  strategy_of(kind).prepare_for_create(document, context.gates);
  if (context.validates)
    if (auto causes = validate_create(kind, document, context.gates); !causes.empty())
      return fail(invalid(kind, request.name, std::move(causes)));
  TRY(admit_valid(context, request, document));
  count_quota(context, request, document, nullptr);
  std::ranges::move(warnings_about(kind, document, context.absent),
                    std::back_inserter(answer.warnings));

  std::string key = store::make_key(kind, request.name_space, request.name);
  if (const api::ObjectPtr standing = context.staging.get(key))
    return fail(exists_already(*standing));
  auto object = make_object(stored, document);
  TRY(check_size(*object));
  TRY(check_crowd(context, *object, nullptr));
  TRY(check_stored(context, *object, nullptr));
  answer.what = api::ObjectAnswer{.object = object, .revision = {}, .created = true};
  Decision decision{.transaction = {}, .answer = std::move(answer), .deleted = false};
  decision.transaction.writes.push_back(
      {.key = std::move(key), .object = std::move(object), .expected = {}});
  if (&stored == &api::kinds::name_space())
    if (auto account = default_account(context, request.name))
      decision.transaction.writes.push_back(*std::move(account));
  return decision;
}

}  // namespace muster::server
