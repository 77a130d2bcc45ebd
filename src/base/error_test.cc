#include "base/error.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace muster {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Reason::Invalid, "{} is odd", number);
  return number / 2;
}

Result<int> quarter(int number) {
  const int once = TRY(half(number));
  return TRY(half(once));
}

Result<void> check_even(int number) {
  TRY(half(number));
  return {};
}

Result<void> check_both(int one, int other) {
  TRY(check_even(one));
  TRY(check_even(other));
  return {};
}

TEST(Result, TryPassesValuesAndReturnsErrors) {
  EXPECT_EQ(quarter(8).value(), 2);
  const Result<int> odd = quarter(6);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().reason, Reason::Invalid);
  EXPECT_EQ(odd.error().message, "3 is odd");
  EXPECT_TRUE(check_even(4));
  EXPECT_FALSE(check_even(5));
  EXPECT_TRUE(check_both(2, 4));
  EXPECT_FALSE(check_both(2, 3));
}

TEST(Reason, HasTheNameAndCodeOfAStatus) {
  EXPECT_EQ(reason_name(Reason::BadRequest), "BadRequest");
  EXPECT_EQ(http_code(Reason::Invalid), 422);
  EXPECT_EQ(reason_name(Reason::Timeout), "Timeout");
  EXPECT_EQ(http_code(Reason::Timeout), 504);
}

TEST(Reason, OfEveryErrorIsOneThatKubernetesKnows) {
  struct Case {
    Reason reason;
    std::string_view name;
    int code;
  };
  for (const Case& test : {Case{Reason::BadRequest, "BadRequest", 400},
                           {Reason::Unauthorized, "Unauthorized", 401},
                           {Reason::Forbidden, "Forbidden", 403},
                           {Reason::NotFound, "NotFound", 404},
                           {Reason::MethodNotAllowed, "MethodNotAllowed", 405},
                           {Reason::NotAcceptable, "NotAcceptable", 406},
                           {Reason::AlreadyExists, "AlreadyExists", 409},
                           {Reason::Conflict, "Conflict", 409},
                           {Reason::Expired, "Expired", 410},
                           {Reason::RequestEntityTooLarge, "RequestEntityTooLarge", 413},
                           {Reason::UnsupportedMediaType, "UnsupportedMediaType", 415},
                           {Reason::Invalid, "Invalid", 422},
                           {Reason::TooManyRequests, "TooManyRequests", 429},
                           {Reason::InternalError, "InternalError", 500},
                           {Reason::ServerTimeout, "ServerTimeout", 500},
                           {Reason::ServiceUnavailable, "ServiceUnavailable", 503},
                           {Reason::Timeout, "Timeout", 504}}) {
    EXPECT_EQ(reason_name(test.reason), test.name);
    EXPECT_EQ(http_code(test.reason), test.code) << test.name;
  }
}

}  // namespace
}  // namespace muster
