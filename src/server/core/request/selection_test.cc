#include "server/core/request/selection.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(Skim, FindsScalarsWithoutADocument) {
  constexpr std::string_view kText =
      R"({"metadata":{"name":"a","labels":{"spec":"x","}\"{":"y"}},"spec":{"list":[{"nodeName":"no"},[1,2]],"n":42,)"
      R"("b":true,"empty":{},"nodeName":"n1","escaped":"a\"b\\"},"status":{"x":null}})";
  EXPECT_EQ(skim(kText, "spec.nodeName"), "n1");
  EXPECT_EQ(skim(kText, "metadata.name"), "a");
  EXPECT_EQ(skim(kText, "spec.n"), "42");
  EXPECT_EQ(skim(kText, "spec.b"), "true");
  EXPECT_EQ(skim(kText, "spec.escaped"), "a\"b\\");
  EXPECT_EQ(skim(kText, "spec.empty.more"), "");
  EXPECT_EQ(skim(kText, "spec.list"), "");
  EXPECT_EQ(skim(kText, "spec.missing"), "");
  EXPECT_EQ(skim(kText, "status.x"), "");
  EXPECT_EQ(skim(kText, "status.x.y"), "");
  EXPECT_EQ(skim("{}", "a"), "");
}

}  // namespace
}  // namespace muster::server
