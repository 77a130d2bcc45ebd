#include "base/error.h"

#include <array>

namespace muster {
namespace {

struct Row {
  std::string_view name;
  int code;
};

// Indexed by Reason.
constexpr std::array<Row, 17> kRows{{
    {"BadRequest", 400},
    {"Unauthorized", 401},
    {"Forbidden", 403},
    {"NotFound", 404},
    {"MethodNotAllowed", 405},
    {"NotAcceptable", 406},
    {"AlreadyExists", 409},
    {"Conflict", 409},
    {"Expired", 410},
    {"RequestEntityTooLarge", 413},
    {"UnsupportedMediaType", 415},
    {"Invalid", 422},
    {"TooManyRequests", 429},
    {"InternalError", 500},
    {"ServerTimeout", 500},
    {"ServiceUnavailable", 503},
    {"Timeout", 504},
}};

const Row& row(Reason reason) { return kRows.at(static_cast<std::size_t>(reason)); }

}  // namespace

std::string_view reason_name(Reason reason) { return row(reason).name; }
int http_code(Reason reason) { return row(reason).code; }

}  // namespace muster
