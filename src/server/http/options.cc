#include "server/http/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

namespace muster::server {
namespace {

constexpr std::size_t kFieldManagerBytesMax = 128;

// `CreateOptions.meta.k8s.io "" is invalid: fieldManager: …`, with its one cause.
tl::unexpected<Error> invalid_option(std::string_view options_kind, std::string_view type,
                                     std::string_view field, const std::string& message) {
  Error error = make_error(Reason::Invalid, "{}.meta.k8s.io \"\" is invalid: {}: {}", options_kind,
                           field, message);
  error.group = "meta.k8s.io";
  error.kind = options_kind;
  error.causes.push_back({std::string(type), std::string(field), message});
  return fail(std::move(error));
}

std::string_view options_kind(api::Verb verb) {
  switch (verb) {
    case api::Verb::Create: return "CreateOptions";
    case api::Verb::Update: return "UpdateOptions";
    case api::Verb::Patch: return "PatchOptions";
    case api::Verb::Delete:
    case api::Verb::DeleteCollection: return "DeleteOptions";
    default: return "ListOptions";
  }
}

Result<std::optional<std::int64_t>> read_integer(const Query& query, std::string_view key) {
  const std::string* text = query.find(key);
  if (text == nullptr || text->empty()) return std::nullopt;
  std::int64_t value = 0;
  std::string_view digits = *text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range)
    return fail(Reason::BadRequest, "strconv.ParseInt: parsing \"{}\": value out of range", *text);
  if (error != std::errc() || end != digits.data() + digits.size())
    return fail(Reason::BadRequest, "strconv.ParseInt: parsing \"{}\": invalid syntax", *text);
  return value;
}

Result<void> read_list_options(const Query& query, api::ListOptions& list) {
  list.label_selector = query.text("labelSelector");
  list.field_selector = query.text("fieldSelector");
  list.limit = TRY(read_integer(query, "limit")).value_or(0);
  list.continue_token = query.text("continue");
  list.resource_version = query.text("resourceVersion");
  list.resource_version_match = query.text("resourceVersionMatch");
  list.allow_bookmarks = query.flag("allowWatchBookmarks");
  if (query.find("sendInitialEvents") != nullptr)
    list.send_initial_events = query.flag("sendInitialEvents");
  list.timeout_s = TRY(read_integer(query, "timeoutSeconds"));
  return {};
}

// ["a","b"], as upstream prints a list in a field error.
std::string quoted_list(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    api::write_string(value, out);
  }
  return out + "]";
}

Result<bool> judge_dry_run(std::string_view kind, const std::vector<std::string>& values) {
  if (values.empty()) return false;
  if (std::ranges::all_of(values, [](const std::string& value) { return value == "All"; }))
    return true;
  return invalid_option(
      kind, "FieldValueNotSupported", "dryRun",
      fmt::format("Unsupported value: {}: supported values: \"All\"", quoted_list(values)));
}

bool is_printable(std::string_view text) {
  // Bytes above 0x7f belong to UTF-8 sequences; Go asks unicode.IsPrint, which nearly all of them
  // are.
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string manager_of(std::string_view user_agent) {
  const std::string_view name =
      user_agent.substr(0, std::min(user_agent.find('/'), user_agent.size()));
  std::string manager(name.substr(0, kFieldManagerBytesMax));
  return !manager.empty() && is_printable(manager) ? manager : "unknown";
}

Result<void> read_write_options(const Query& query, std::string_view user_agent,
                                api::Request& request) {
  const std::string_view kind = options_kind(request.verb);
  request.dry_run = TRY(judge_dry_run(kind, query.all("dryRun")));

  request.field_manager = query.text("fieldManager");
  if (request.field_manager.size() > kFieldManagerBytesMax)
    return invalid_option(
        kind, "FieldValueTooLong", "fieldManager",
        fmt::format("Too long: may not be more than {} bytes", kFieldManagerBytesMax));
  if (!is_printable(request.field_manager)) {
    std::string quoted;
    api::write_string(request.field_manager, quoted);
    return invalid_option(
        kind, "FieldValueInvalid", "fieldManager",
        fmt::format("Invalid value: {}: should only contain printable characters", quoted));
  }
  const bool apply =
      request.verb == api::Verb::Patch && request.patch_type == api::PatchType::Apply;
  if (request.field_manager.empty()) {
    if (apply)
      return invalid_option(kind, "FieldValueRequired", "fieldManager",
                            "Required value: is required for apply patch");
    request.field_manager = manager_of(user_agent);
  }
  request.force = query.flag("force");
  if (request.verb == api::Verb::Patch && !apply && query.find("force") != nullptr)
    return invalid_option(kind, "FieldValueForbidden", "force",
                          "Forbidden: may not be specified for non-apply patch");

  const std::string validation = query.text("fieldValidation");
  if (validation == "Ignore")
    request.field_validation = api::FieldValidation::Ignore;
  else if (validation == "Strict")
    request.field_validation = api::FieldValidation::Strict;
  else if (!validation.empty() && validation != "Warn")
    return invalid_option(
        kind, "FieldValueNotSupported", "fieldValidation",
        fmt::format(R"(Unsupported value: "{}": supported values: "", "Ignore", "Strict", "Warn")",
                    validation));
  return {};
}

// The deletion options as they stand in a query or a body, before they are judged.
struct RawDeleteOptions {
  std::optional<std::int64_t> grace_period_s;
  std::optional<std::string> propagation_policy;
  std::optional<bool> orphan_dependents;
  std::vector<std::string> dry_run;
};

Result<DeleteReply> apply_delete_options(const RawDeleteOptions& raw, api::Request& request) {
  constexpr std::string_view kKind = "DeleteOptions";
  request.dry_run = TRY(judge_dry_run(kKind, raw.dry_run));
  request.remove.grace_period_s = raw.grace_period_s;
  if (raw.propagation_policy && raw.orphan_dependents)
    return invalid_option(
        kKind, "FieldValueInvalid", "propagationPolicy",
        fmt::format(
            "Invalid value: \"{}\": orphanDependents and deletionPropagation cannot be both set",
            *raw.propagation_policy));
  if (raw.orphan_dependents)
    request.remove.propagation_policy = *raw.orphan_dependents ? "Orphan" : "Background";
  if (!raw.propagation_policy)
    return DeleteReply{.tells_pending = !raw.orphan_dependents.value_or(true)};
  const std::string& policy = *raw.propagation_policy;
  if (policy != "Orphan" && policy != "Background" && policy != "Foreground")
    return invalid_option(
        kKind, "FieldValueNotSupported", "propagationPolicy",
        fmt::format("Unsupported value: \"{}\": supported values: \"Foreground\", \"Background\", "
                    "\"Orphan\", \"nil\"",
                    policy));
  request.remove.propagation_policy = policy;
  return DeleteReply{};
}

tl::unexpected<Error> wrong_type(std::string_view field) {
  return fail(
      Reason::BadRequest,
      "DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: {} has the wrong type",
      field);
}

// The members a DeleteOptions may have, read with their types checked; null means unset, as in Go.
Result<std::optional<std::string>> read_text(const api::Json& body, std::string_view member) {
  const api::Json* value = api::find(body, member);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_string()) return wrong_type(member);
  return std::string(value->get_string());
}

Result<std::vector<std::string>> read_texts(const api::Json& body, std::string_view member) {
  std::vector<std::string> texts;
  const api::Json* value = api::find(body, member);
  if (value == nullptr || value->is_null()) return texts;
  if (!value->is_array()) return wrong_type(member);
  for (const api::Json& item : value->get_array()) {
    if (!item.is_string()) return wrong_type(member);
    texts.emplace_back(item.get_string());
  }
  return texts;
}

}  // namespace

Result<void> read_options(const Query& query, std::string_view user_agent, api::Request& request) {
  switch (request.verb) {
    case api::Verb::Get:
      if (query.flag("export"))
        return fail(Reason::BadRequest,
                    "the export parameter, deprecated since v1.14, is no longer supported");
      request.list.resource_version = query.text("resourceVersion");
      return {};
    case api::Verb::List:
    case api::Verb::Watch:
    case api::Verb::DeleteCollection: return read_list_options(query, request.list);
    case api::Verb::Create:
    case api::Verb::Update:
    case api::Verb::Patch: return read_write_options(query, user_agent, request);
    case api::Verb::Delete: return {};
  }
  return {};
}

Result<DeleteReply> read_delete_options(const Query& query, api::Request& request) {
  RawDeleteOptions raw;
  raw.grace_period_s = TRY(read_integer(query, "gracePeriodSeconds"));
  if (const std::string* policy = query.find("propagationPolicy")) raw.propagation_policy = *policy;
  if (query.find("orphanDependents") != nullptr)
    raw.orphan_dependents = query.flag("orphanDependents");
  raw.dry_run = query.all("dryRun");
  return apply_delete_options(raw, request);
}

Result<DeleteReply> read_delete_options(const api::Json& body, api::Request& request) {
  if (!body.is_object()) return wrong_type("the body");
  const std::string_view kind = api::find_string(body, "kind");
  if (!kind.empty() && kind != "DeleteOptions")
    return fail(Reason::BadRequest,
                "{} in version \"{}\" cannot be handled as a DeleteOptions: converting to it is "
                "not possible",
                kind, api::find_string(body, "apiVersion"));
  RawDeleteOptions raw;
  if (const api::Json* grace = api::find(body, "gracePeriodSeconds");
      grace != nullptr && !grace->is_null()) {
    if (grace->is_int64())
      raw.grace_period_s = grace->get_int64();
    else
      return wrong_type("gracePeriodSeconds");
  }
  raw.propagation_policy = TRY(read_text(body, "propagationPolicy"));
  if (const api::Json* orphan = api::find(body, "orphanDependents");
      orphan != nullptr && !orphan->is_null()) {
    if (!orphan->is_bool()) return wrong_type("orphanDependents");
    raw.orphan_dependents = orphan->get_bool();
  }
  raw.dry_run = TRY(read_texts(body, "dryRun"));
  if (const api::Json* conditions = api::find(body, "preconditions");
      conditions != nullptr && !conditions->is_null()) {
    if (!conditions->is_object()) return wrong_type("preconditions");
    request.remove.preconditions.uid = TRY(read_text(*conditions, "uid"));
    request.remove.preconditions.resource_version = TRY(read_text(*conditions, "resourceVersion"));
  }
  return apply_delete_options(raw, request);
}

}  // namespace muster::server
