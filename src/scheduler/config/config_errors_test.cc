#include "scheduler/config/config_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::scheduler {
namespace {

using Texts = std::vector<std::string>;

TEST(ConfigErrorsText, TwentyAreNamedAndTheOthersCounted) {
  const auto said = [](int sentences, int fields) {
    ConfigErrors errors("");
    EXPECT_TRUE(errors.empty());
    const api::FieldPath path("a");
    for (int i = 0; i < sentences; ++i) errors.add("", "s");
    for (int i = 0; i < fields; ++i) errors.fields().required(path);
    EXPECT_FALSE(errors.empty());
    const Error error = errors.fail().value();
    EXPECT_EQ(error.reason, Reason::Invalid);
    return error.message;
  };
  const auto repeated = [](int sentences, int fields) {
    Texts all(static_cast<std::size_t>(sentences), "s");
    all.insert(all.end(), static_cast<std::size_t>(fields), "a: Required value");
    return fmt::format("{}", fmt::join(all, "; "));
  };
  EXPECT_EQ(said(1, 0), "s");
  EXPECT_EQ(said(2, 1), "s; s; a: Required value");
  EXPECT_EQ(said(20, 0), repeated(20, 0));
  EXPECT_EQ(said(0, 20), repeated(0, 20));
  EXPECT_EQ(said(21, 0), repeated(20, 0) + "; and 1 more");
  EXPECT_EQ(said(19, 3), repeated(19, 1) + "; and 2 more");
  EXPECT_EQ(said(22, 3), repeated(20, 0) + "; and 5 more");
}

}  // namespace
}  // namespace muster::scheduler
