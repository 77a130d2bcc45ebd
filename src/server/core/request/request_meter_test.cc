#include "server/core/request/request_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"

namespace muster::server {
namespace {

using namespace std::chrono_literals;
using api::Verb;

RequestMeter::Labels lists() {
  RequestMeter::Labels labels;
  labels.verb = "LIST";
  labels.version = "v1";
  labels.resource = "pods";
  labels.scope = "cluster";
  return labels;
}

api::Request request(const api::Kind& kind, std::string version, Verb verb = Verb::Get) {
  api::Request request;
  request.kind = &kind;
  request.version = std::move(version);
  request.verb = verb;
  return request;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RequestMeterLabels, NameTheVerbAsTheMethod) {
  const std::vector<std::pair<Verb, std::string_view>> names = {
      {Verb::Get, "GET"},       {Verb::List, "LIST"},
      {Verb::Watch, "WATCH"},   {Verb::Create, "POST"},
      {Verb::Update, "PUT"},    {Verb::Patch, "PATCH"},
      {Verb::Delete, "DELETE"}, {Verb::DeleteCollection, "DELETECOLLECTION"},
  };
  for (const auto& [verb, name] : names)
    EXPECT_EQ(RequestMeter::labels_of(request(api::kinds::pod(), "v1", verb)).verb, name);
}

TEST(RequestMeterLabels, NameWhatWasAskedFor) {
  api::Request asked = request(api::kinds::pod_group(), "v1beta1");
  RequestMeter::Labels labels = RequestMeter::labels_of(asked);
  EXPECT_EQ(labels.group, "scheduling.k8s.io");
  EXPECT_EQ(labels.version, "v1beta1");
  EXPECT_EQ(labels.resource, "podgroups");
  EXPECT_EQ(labels.subresource, "");
  EXPECT_EQ(labels.scope, "cluster");

  asked.name_space = "d";
  EXPECT_EQ(RequestMeter::labels_of(asked).scope, "namespace");
  asked.name = "g";
  EXPECT_EQ(RequestMeter::labels_of(asked).scope, "resource");
  asked.name_space = "";
  EXPECT_EQ(RequestMeter::labels_of(asked).scope, "resource");
  asked.subresource = "status";
  EXPECT_EQ(RequestMeter::labels_of(asked).subresource, "status");
  asked.subresource = "invented";
  EXPECT_EQ(RequestMeter::labels_of(asked).subresource, "");
}

// An upper bound belongs to its bucket, and a bucket holds all that is faster.
TEST(RequestMeter, BucketsAreCumulativeAndHoldTheirBound) {
  RequestMeter meter;
  for (const auto took : {5ms, 6ms, 25ms, 26ms, 60000ms, 60001ms}) meter.count(lists(), 200, took);
  const std::string text = meter.text();
  for (const char* line : {R"(le="0.005"} 1)", R"(le="0.025"} 3)", R"(le="0.05"} 4)",
                           R"(le="0.1"} 4)", R"(le="45"} 4)", R"(le="60"} 5)", R"(le="+Inf"} 6)"})
    EXPECT_TRUE(holds(text, std::string(line) + "\n")) << line << "\nin\n" << text;
}

TEST(RequestMeter, SumsAndCountsBySeries) {
  RequestMeter meter;
  RequestMeter::Labels dry = lists();
  dry.dry_run = true;
  meter.count(lists(), 200, 250ms);
  meter.count(lists(), 404, 500ms);
  meter.count(dry, 200, 1s);
  const std::string text = meter.text();
  const std::string rest =
      R"(group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"})";
  const std::string real = R"(component="apiserver",dry_run="",)" + rest;
  const std::string tried = R"(component="apiserver",dry_run="All",)" + rest;
  for (const std::string& line : {R"(apiserver_request_total{code="200",)" + real + " 1\n",
                                  R"(apiserver_request_total{code="404",)" + real + " 1\n",
                                  R"(apiserver_request_total{code="200",)" + tried + " 1\n",
                                  "apiserver_request_duration_seconds_sum{" + real + " 0.75\n",
                                  "apiserver_request_duration_seconds_count{" + real + " 2\n",
                                  "apiserver_request_duration_seconds_sum{" + tried + " 1\n",
                                  "apiserver_request_duration_seconds_count{" + tried + " 1\n"})
    EXPECT_TRUE(holds(text, line)) << line << "in\n" << text;
}

TEST(RequestMeter, SaysWhatItCountsBeforeThereIsAnything) {
  EXPECT_EQ(RequestMeter().text(),
            "# HELP apiserver_request_total Requests answered, by verb, resource and response "
            "code.\n"
            "# TYPE apiserver_request_total counter\n"
            "# HELP apiserver_request_duration_seconds Time from request to answer, by verb and "
            "resource.\n"
            "# TYPE apiserver_request_duration_seconds histogram\n");
}

}  // namespace
}  // namespace muster::server
