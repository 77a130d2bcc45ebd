#include "server/core/request/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace muster::server {
namespace {

Error about(Reason reason, const api::Kind& kind, std::string_view name, std::string message) {
  Error error;
  error.reason = reason;
  error.message = std::move(message);
  error.name = name;
  error.group = kind.group;
  error.kind = kind.plural;
  return error;
}

// "FIELD: MESSAGE", several as "[…, …]", each once: Go's error aggregate.
std::string aggregate(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) {
    std::string text =
        cause.field.empty() ? cause.message : fmt::format("{}: {}", cause.field, cause.message);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  if (texts.size() == 1) return texts.front();
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

Error not_found(const api::Kind& kind, std::string_view name) {
  return about(Reason::NotFound, kind, name,
               fmt::format(R"({} "{}" not found)", kind.qualified_plural(), name));
}

Error already_exists(const api::Kind& kind, std::string_view name) {
  return about(Reason::AlreadyExists, kind, name,
               fmt::format(R"({} "{}" already exists)", kind.qualified_plural(), name));
}

Error conflict(const api::Kind& kind, std::string_view name, std::string_view why) {
  return about(Reason::Conflict, kind, name,
               fmt::format(R"(Operation cannot be fulfilled on {} "{}": {})",
                           kind.qualified_plural(), name, why));
}

Error modified_meanwhile(const api::Kind& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Error forbidden(const api::Kind& kind, std::string_view name, std::string_view why) {
  return about(Reason::Forbidden, kind, name,
               name.empty() ? fmt::format("{} is forbidden: {}", kind.qualified_plural(), why)
                            : fmt::format(R"({} "{}" is forbidden: {})", kind.qualified_plural(),
                                          name, why));
}

Error invalid(const Subject& subject, std::vector<Cause> causes) {
  Error error;
  error.reason = Reason::Invalid;
  error.message =
      fmt::format(R"({}{}{} "{}" is invalid: {})", subject.kind, subject.group.empty() ? "" : ".",
                  subject.group, subject.name, aggregate(causes));
  error.causes = std::move(causes);
  error.name = subject.name;
  error.group = subject.group;
  error.kind = subject.kind;
  return error;
}

Error invalid(const api::Kind& kind, std::string_view name, std::vector<Cause> causes) {
  return invalid(Subject{.group = kind.group, .kind = kind.kind, .name = name}, std::move(causes));
}

Error too_large_resource_version(std::int64_t asked, std::int64_t current) {
  Error error = make_error(Reason::Timeout, "Timeout: Too large resource version: {}, current: {}",
                           asked, current);
  error.causes.push_back(
      {.type = "ResourceVersionTooLarge", .field = "", .message = "Too large resource version"});
  error.retry_after_s = 1;
  return error;
}

Error method_not_allowed() {
  return make_error(Reason::MethodNotAllowed,
                    "the server does not allow this method on the requested resource");
}

Error internal_error(std::string_view why) {
  Error error = make_error(Reason::InternalError, "Internal error occurred: {}", why);
  error.causes.push_back({.type = "", .field = "", .message = std::string(why)});
  return error;
}

}  // namespace muster::server
