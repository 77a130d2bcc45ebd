#include "server/core/request/selection.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"

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
  EXPECT_EQ(scalar_at(kText, "metadata.labels.spec"), "x");
  EXPECT_EQ(scalar_at(R"({"a":{},"ab":{"c":"no"},"a.b":"no","b":[],"a2":1})", "a2"), "1");
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

Selection select(std::string_view kind, std::string fields, std::string_view group = "") {
  api::Request request;
  request.kind = api::find_kind(group, kind);
  request.list.field_selector = std::move(fields);
  return Selection::of(request).value();
}

TEST(Selection, KnowsWhetherItSearches) {
  EXPECT_FALSE(select("Pod", "").searches());
  EXPECT_FALSE(select("Pod", "metadata.name=a,spec.nodeName=n,status.phase!=Failed").searches());
  EXPECT_TRUE(select("Pod", "spec.restartPolicy!=a").searches());
  EXPECT_TRUE(select("Event", "metadata.name=a,reason=b").searches());
}

api::ObjectPtr event(std::string_view fields) {
  const std::string text =
      fmt::format(R"({{"metadata":{{"name":"e","namespace":"d"}},{}}})", fields);
  return api::Object::make(api::kinds::event(), api::parse_json(text)->value);
}

// Each of the fields decides, wherever in the object it stands.
TEST(Selection, FindsAllFieldsOfAnObject) {
  const api::ObjectPtr object =
      event(R"("involvedObject":{"kind":"Pod","name":"web","uid":"u","fieldPath":"p.q"},)"
            R"("message":"{\"reason\":\"no\"}","reason":"Made","reportingComponent":"r",)"
            R"("source":{"component":"c","host":"h"},"type":"Normal")");
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"metadata.name", "e"},
      {"involvedObject.kind", "Pod"},
      {"involvedObject.name", "web"},
      {"involvedObject.uid", "u"},
      {"involvedObject.fieldPath", "p.q"},
      {"involvedObject.apiVersion", ""},
      {"reason", "Made"},
      {"reportingComponent", "r"},
      {"source", "c"},
      {"type", "Normal"},
  };
  for (std::size_t wrong = 0; wrong <= fields.size(); ++wrong) {
    std::string all;
    for (std::size_t i = 0; i < fields.size(); ++i)
      all += fmt::format("{}{}{}{}", i == 0 ? "" : ",", fields[i].first, i == wrong ? "!=" : "=",
                         fields[i].second);
    EXPECT_EQ(select("Event", all).matches(*object), wrong == fields.size()) << all;
  }
}

TEST(Selection, ReadsFieldsThatHaveSeveralPlacesOrADefault) {
  EXPECT_TRUE(select("Event", "source=r,type=").matches(*event(R"("reportingComponent":"r")")));
  EXPECT_TRUE(select("Event", "source=c,reportingComponent=r")
                  .matches(*event(R"("reportingComponent":"r","source":{"component":"c"})")));
  const api::ObjectPtr node = api::Object::make(
      api::kinds::node(), api::parse_json(R"({"metadata":{"name":"n"},"spec":{}})")->value);
  EXPECT_TRUE(select("Node", "spec.unschedulable=false").matches(*node));
  const auto job = [](std::string_view status) {
    return api::Object::make(
        *api::find_kind("batch", "Job"),
        api::parse_json(R"({"metadata":{"name":"j"},"status":{)" + std::string(status) + "}}")
            ->value);
  };
  EXPECT_TRUE(select("Job", "status.successful=0", "batch").matches(*job("")));
  EXPECT_FALSE(select("Job", "status.successful=0", "batch").matches(*job(R"("succeeded":3)")));
  EXPECT_TRUE(select("Job", "status.successful=3", "batch").matches(*job(R"("succeeded":3)")));
}

struct Asked {
  std::string_view group;
  std::string_view kind;
  std::string name_space;
  std::string labels;
  std::string fields;
};
Result<Selection> ask(const Asked& asked) {
  api::Request request;
  request.kind = api::find_kind(asked.group, asked.kind);
  request.name_space = asked.name_space;
  request.list.label_selector = asked.labels;
  request.list.field_selector = asked.fields;
  return Selection::of(request);
}

TEST(Selection, KnowsWhereItsObjectsAreStored) {
  struct Case {
    Asked asked;
    std::string prefix;
    std::string only_key;
  };
  const std::vector<Case> cases = {
      {{"", "Pod", "", "", ""}, "pods/", ""},
      {{"", "Pod", "d", "", ""}, "pods/d/", ""},
      {{"", "Pod", "d", "a=b", "metadata.name=x"}, "pods/d/", "pods/d/x"},
      {{"", "Pod", "", "", "metadata.name=x"}, "pods/", ""},
      {{"", "Pod", "d", "", "metadata.name!=x"}, "pods/d/", ""},
      {{"", "Node", "", "", "metadata.name=x"}, "nodes/", "nodes/x"},
      {{"", "Node", "d", "", ""}, "nodes/", ""},
  };
  for (const Case& one : cases) {
    const Selection selection = ask(one.asked).value();
    EXPECT_EQ(selection.prefix(), one.prefix) << one.asked.fields;
    EXPECT_EQ(selection.only_key(), one.only_key) << one.asked.fields;
  }
}

TEST(Selection, KnowsHowMuchItAsks) {
  EXPECT_TRUE(ask({"", "Pod", "d", "", ""}).value().selects_everything());
  EXPECT_FALSE(ask({"", "Pod", "", "a", ""}).value().selects_everything());
  EXPECT_FALSE(ask({"", "Pod", "", "", "metadata.name=x"}).value().selects_everything());
  EXPECT_EQ(ask({"", "Pod", "d", "", ""}).value().terms(), 0U);
  EXPECT_EQ(ask({"", "Pod", "", "a,b=c", "metadata.name=x,spec.nodeName=n,status.phase=P"})
                .value()
                .terms(),
            5U);
}

TEST(Selection, TakesOnlyFieldsOfTheKind) {
  struct Case {
    Asked asked;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{"", "Pod", "", "", "spec.foo=a"}, "field label not supported: spec.foo"},
      {{"", "Node", "", "", "spec.host=a"}, "field label not supported: spec.host"},
      {{"", "Node", "", "", "metadata.namespace=a"},
       "field label not supported: metadata.namespace"},
      {{"batch", "Job", "", "", "spec.foo=a"}, R"(field label "spec.foo" not supported for Job)"},
      {{"", "ConfigMap", "", "", "data=a"},
       R"("data" is not a known field selector: only "metadata.name", "metadata.namespace")"},
  };
  for (const Case& one : cases) {
    const auto selection = ask(one.asked);
    ASSERT_FALSE(selection) << one.want;
    EXPECT_EQ(selection.error().reason, Reason::BadRequest);
    EXPECT_EQ(selection.error().message, one.want);
  }
  for (const char* kind : {"Pod", "ConfigMap"})
    EXPECT_TRUE(ask({"", kind, "", "", "metadata.name=a,metadata.namespace=d"})) << kind;
}

TEST(Selection, MatchesPodsByNamespaceLabelsAndFields) {
  const api::ObjectPtr pod = api::Object::make(
      api::kinds::pod(),
      api::parse_json(R"({"metadata":{"name":"p","namespace":"d","labels":{"a":"b"}},)"
                      R"("spec":{"nodeName":"n","schedulerName":"s","restartPolicy":"Never",)"
                      R"("serviceAccountName":"sa"},)"
                      R"("status":{"phase":"Running","nominatedNodeName":"m","podIP":"1.2.3.4"}})")
          ->value);
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"metadata.name", "p"},
      {"metadata.namespace", "d"},
      {"spec.nodeName", "n"},
      {"spec.host", "n"},
      {"spec.schedulerName", "s"},
      {"spec.restartPolicy", "Never"},
      {"spec.serviceAccountName", "sa"},
      {"spec.hostNetwork", "false"},
      {"status.phase", "Running"},
      {"status.nominatedNodeName", "m"},
      {"status.podIP", "1.2.3.4"},
  };
  for (const auto& [field, value] : fields) {
    EXPECT_TRUE(select("Pod", field + "=" + value).matches(*pod)) << field;
    EXPECT_FALSE(select("Pod", field + "!=" + value).matches(*pod)) << field;
  }
  struct Case {
    Asked asked;
    bool want;
  };
  for (const Case& one : std::vector<Case>{{{"", "Pod", "d", "", ""}, true},
                                           {{"", "Pod", "e", "", ""}, false},
                                           {{"", "Pod", "", "a=b", ""}, true},
                                           {{"", "Pod", "", "a!=b", ""}, false},
                                           {{"", "Pod", "e", "a=b", "metadata.name=p"}, false},
                                           {{"", "Pod", "d", "a=c", "metadata.name=p"}, false},
                                           {{"", "Pod", "d", "a=b", "metadata.name=q"}, false},
                                           {{"", "Pod", "d", "a=b", "metadata.name=p"}, true}})
    EXPECT_EQ(ask(one.asked).value().matches(*pod), one.want)
        << one.asked.name_space << " " << one.asked.labels << " " << one.asked.fields;
}

}  // namespace
}  // namespace muster::server
