#include "server/core/request/selection.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(ScalarAt, FindsScalarsWithoutADocument) {
  constexpr std::string_view kText =
      R"({"metadata":{"name":"a","labels":{"spec":"x","}\"{":"y"}},"spec":{"list":[{"nodeName":"no"},[1,2]],"n":42,)"
      R"("b":true,"empty":{},"nodeName":"n1","escaped":"a\"b\\"},"status":{"x":null}})";
  EXPECT_EQ(scalar_at(kText, "spec.nodeName"), "n1");
  EXPECT_EQ(scalar_at(kText, "metadata.name"), "a");
  EXPECT_EQ(scalar_at(kText, "spec.n"), "42");
  EXPECT_EQ(scalar_at(kText, "spec.b"), "true");
  EXPECT_EQ(scalar_at(kText, "spec.escaped"), "a\"b\\");
  EXPECT_EQ(scalar_at(kText, "spec.empty.more"), "");
  EXPECT_EQ(scalar_at(kText, "spec.list"), "");
  EXPECT_EQ(scalar_at(kText, "spec.missing"), "");
  EXPECT_EQ(scalar_at(kText, "status.x"), "");
  EXPECT_EQ(scalar_at(kText, "status.x.y"), "");
  EXPECT_EQ(scalar_at("{}", "a"), "");
}

}  // namespace
}  // namespace muster::server
