#include "api/values/pattern.h"

#include <re2/re2.h>

#include <utility>

namespace muster::api {
namespace {

// Of the compiled expression and of its states while it is looked for.
constexpr std::int64_t kBytesMax = 1 << 20;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(std::shared_ptr<const re2::RE2> expression) : expression_(std::move(expression)) {}

Result<Pattern> Pattern::parse(std::string_view text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kBytesMax);
  auto expression = std::make_shared<const re2::RE2>(piece(text), options);
  if (!expression->ok())
    return fail(Reason::BadRequest, "error parsing regexp: {}: `{}`", expression->error(), text);
  return Pattern(std::move(expression));
}

bool Pattern::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text), *expression_);
}

}  // namespace muster::api
