#pragma once

#include <tl/expected.hpp>

#include <utility>

#include "base/error.h"

namespace muster {

// The value, or why there is none.
template <typename T>
using Result = tl::expected<T, Error>;

// For `return`: turns an error, or a reason and a message, into a failed Result of any type.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
template <typename... Args>
tl::unexpected<Error> fail(Reason reason, fmt::format_string<Args...> format, Args&&... args) {
  return fail(make_error(reason, format, std::forward<Args>(args)...));
}

namespace detail {
template <typename T>
T value_of(Result<T>&& result) {
  return *std::move(result);
}
inline void value_of(Result<void>&&) {}
}  // namespace detail

}  // namespace muster

// The value of a Result, or an early return of its error. One per statement.
#define TRY(expression)                                                          \
  __extension__({                                                                \
    auto muster_result = (expression);                                           \
    if (!muster_result) return ::muster::fail(std::move(muster_result).error()); \
    ::muster::detail::value_of(std::move(muster_result));                        \
  })
