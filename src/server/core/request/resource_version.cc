#include "server/core/request/resource_version.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "server/core/request/errors.h"

namespace muster::server {
namespace {

using api::ListOptions;

Cause forbidden_cause(std::string_view field, std::string_view why) {
  return {.type = "FieldValueForbidden",
          .field = std::string(field),
          .message = fmt::format("Forbidden: {}", why)};
}

Cause unsupported_match(std::string_view match) {
  return {.type = "FieldValueNotSupported",
          .field = "resourceVersionMatch",
          .message = fmt::format(
              R"(Unsupported value: "{}": supported values: "Exact", "NotOlderThan", "")", match)};
}

Result<void> invalid_or_ok(std::vector<Cause> causes) {
  if (causes.empty()) return {};
  return fail(invalid(Subject{.group = "meta.k8s.io", .kind = "ListOptions"}, std::move(causes)));
}

bool known_match(std::string_view match) { return match == "Exact" || match == "NotOlderThan"; }

}  // namespace

std::string to_resource_version(api::Revision revision) { return std::to_string(revision.value); }

Result<api::Revision> parse_resource_version(std::string_view text) {
  if (text.empty()) return api::Revision{};
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return fail(Reason::BadRequest,
                R"(invalid resource version: resourceVersion: Invalid value: "{}": )"
                R"(strconv.ParseUint: parsing "{}": invalid syntax)",
                text, text);
  return api::Revision{value};
}

Result<void> check_list_options(const ListOptions& options) {
  std::vector<Cause> causes;
  const std::string& match = options.resource_version_match;
  if (!match.empty()) {
    if (options.resource_version.empty())
      causes.push_back(
          forbidden_cause("resourceVersionMatch",
                          "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (!options.continue_token.empty())
      causes.push_back(forbidden_cause(
          "resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
    if (!known_match(match)) causes.push_back(unsupported_match(match));
    if (match == "Exact" && options.resource_version == "0")
      causes.push_back(
          forbidden_cause("resourceVersionMatch",
                          R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")"));
  }
  if (options.send_initial_events)
    causes.push_back(
        forbidden_cause("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return invalid_or_ok(std::move(causes));
}

Result<void> check_watch_options(const ListOptions& options) {
  std::vector<Cause> causes;
  const std::string& match = options.resource_version_match;
  if (options.send_initial_events) {
    if (match != "NotOlderThan")
      causes.push_back(forbidden_cause(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  } else if (!match.empty()) {
    causes.push_back(forbidden_cause(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (!options.continue_token.empty())
    causes.push_back(forbidden_cause("continue", "continue is forbidden for watch"));
  return invalid_or_ok(std::move(causes));
}

}  // namespace muster::server
