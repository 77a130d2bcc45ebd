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

// Thousands of terms fit into a head, and each would be asked of every object and every change.
TEST(Selection, HasAtMost250Terms) {
  const auto select = [](std::string labels, std::string fields) {
    api::Request request;
    request.verb = api::Verb::List;
    request.kind = api::find_kind("", "Secret");
    request.list.label_selector = std::move(labels);
    request.list.field_selector = std::move(fields);
    return Selection::of(request);
  };
  std::string labels = "!k0";
  std::string fields = "type!=0";
  for (int i = 1; i < 250; ++i) {
    labels += ",!k" + std::to_string(i);
    fields += ",type!=" + std::to_string(i);
  }
  EXPECT_TRUE(select(labels, fields));
  const auto many_labels = select(labels + ",x", "");
  ASSERT_FALSE(many_labels);
  EXPECT_EQ(many_labels.error().message,
            "labelSelector: too many requirements: 251, at most 250 are judged");
  const auto many_fields = select("", fields + ",type!=x");
  ASSERT_FALSE(many_fields);
  EXPECT_EQ(many_fields.error().message,
            "fieldSelector: too many requirements: 251, at most 250 are judged");
}

// What a look at an object may cost: each field that only its bytes know is searched once.
TEST(Selection, KnowsHowOftenItSearches) {
  const auto searches = [](std::string_view kind, std::string fields) {
    api::Request request;
    request.kind = api::find_kind("", kind);
    request.list.field_selector = std::move(fields);
    return Selection::of(request).value().searches();
  };
  EXPECT_EQ(searches("Pod", ""), 0U);
  EXPECT_EQ(searches("Pod", "metadata.name=a,spec.nodeName=n,status.phase!=Failed"), 0U);
  EXPECT_EQ(searches("Pod", "spec.restartPolicy!=a,spec.restartPolicy!=b"), 1U);
  EXPECT_EQ(searches("Event", "reason=a,type=b,involvedObject.kind=c"), 3U);
  EXPECT_EQ(searches("Event", "source=a"), 2U);
}

}  // namespace
}  // namespace muster::server
