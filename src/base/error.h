#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

// Why an operation failed, in the words of the Kubernetes API. From disk to client there is this
// one vocabulary and no table in between.
enum class Reason : std::uint8_t {
  BadRequest,
  Unauthorized,
  Forbidden,
  NotFound,
  MethodNotAllowed,
  NotAcceptable,
  AlreadyExists,
  Conflict,
  Expired,
  RequestEntityTooLarge,
  UnsupportedMediaType,
  Invalid,
  TooManyRequests,
  InternalError,
  ServerTimeout,
  ServiceUnavailable,
  Timeout,
};

// The reason as in a Status object ("NotFound") and the HTTP code that goes with it
// (404).
std::string_view reason_name(Reason reason);
int http_code(Reason reason);

// One field that is wrong: `type` is a Kubernetes cause type such as FieldValueInvalid.
struct Cause {
  std::string type;
  std::string field;
  std::string message;

  friend bool operator==(const Cause&, const Cause&) = default;
};

// An operating error: conflict, timeout, malformed input. Ordinary traffic, so it is a value.
struct Error {
  Reason reason = Reason::InternalError;
  std::string message;
  std::vector<Cause> causes;

  // Which object, for the `details` of a Status; empty where the error is about none.
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  int retry_after_s = 0;
};

template <typename... Args>
Error make_error(Reason reason, fmt::format_string<Args...> format, Args&&... args) {
  Error error;
  error.reason = reason;
  error.message = fmt::format(format, std::forward<Args>(args)...);
  return error;
}

}  // namespace muster
