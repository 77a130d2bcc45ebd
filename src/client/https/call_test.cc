#include "client/https/call.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/kinds/kind.h"
#include "api/protobuf_testing.h"
#include "client/client.h"

namespace muster::client {
namespace {

using api::kinds::pod;
using api::kinds::pod_group;

api::Request request(api::Verb verb, const api::Kind& kind, std::string_view name_space,
                     std::string_view name = "") {
  api::Request out;
  out.verb = verb;
  out.kind = &kind;
  out.version = kind.stored_version;
  out.name_space = name_space;
  out.name = name;
  return out;
}

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

TEST(EncodeCall, ReadsGoToThePathOfTheKind) {
  const HttpCall get = encode_call(request(api::Verb::Get, pod(), "team a", "web"));
  EXPECT_EQ(get.method, "GET");
  EXPECT_EQ(get.target, "/api/v1/namespaces/team%20a/pods/web");
  EXPECT_EQ(get.content_type, "");
  api::Request list = request(api::Verb::List, pod_group(), "");
  list.version = "v1beta1";
  list.list.limit = 500;
  list.list.label_selector = "a in (b,c)";
  list.list.continue_token = "x+/=";
  EXPECT_EQ(encode_call(list).target,
            "/apis/scheduling.k8s.io/v1beta1/podgroups?labelSelector=a%20in%20%28b%2Cc%29&limit=500"
            "&continue=x%2B%2F%3D");
}

TEST(EncodeCall, WritesCarryKindAndOptions) {
  api::Request create = create_request(pod(), "default", json(R"({"metadata":{"name":"a"}})"));
  create.dry_run = true;
  const HttpCall call = encode_call(create);
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/api/v1/namespaces/default/pods?dryRun=All&fieldValidation=Warn");
  EXPECT_EQ(call.content_type, "application/json");
  EXPECT_EQ(json(call.body), json(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})"));
}

TEST(EncodeCall, ASubresourceCarriesItsOwnKind) {
  const auto object = api::Object::make(
      pod(), json(R"({"metadata":{"name":"a","namespace":"default","uid":"u"}})"));
  const HttpCall call = encode_call(bind_request(*object, "node-1"));
  EXPECT_EQ(call.target, "/api/v1/namespaces/default/pods/a/binding?fieldValidation=Warn");
  EXPECT_EQ(api::find_string(json(call.body), "kind"), "Binding");
}

TEST(EncodeCall, TheKindThatABodyNamesStays) {
  const HttpCall call = encode_call(create_request(
      pod(), "default", json(R"({"apiVersion":"other/v1","metadata":{"name":"\"a"}})")));
  EXPECT_EQ(call.body, R"({"kind":"Pod","apiVersion":"other/v1","metadata":{"name":"\"a"}})");
}

// What is decided about a pod needs no more of the answer; what is read from one is decoded.
TEST(EncodeCall, OfEventsAndBindingsNobodyReadsTheAnswer) {
  const auto object = api::Object::make(
      pod(), json(R"({"metadata":{"name":"a","namespace":"default","uid":"u"}})"));
  EXPECT_TRUE(is_only_acknowledged(bind_request(*object, "node-1")));
  EXPECT_TRUE(is_only_acknowledged(create_request(api::kinds::event(), "default", json("{}"))));
  EXPECT_FALSE(is_only_acknowledged(create_request(pod(), "default", json("{}"))));
}

TEST(EncodeCall, PatchesNameTheirType) {
  const HttpCall call = encode_call(patch_request(
      pod(), "default", "a", "status", api::PatchType::StrategicMerge, json(R"({"status":{}})")));
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.target, "/api/v1/namespaces/default/pods/a/status?fieldValidation=Warn");
  EXPECT_EQ(call.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(call.body, R"({"status":{}})");
}

TEST(EncodeCall, ADeletionCarriesWhatItDependsOn) {
  api::Request remove = request(api::Verb::Delete, pod(), "default", "a");
  EXPECT_EQ(json(encode_call(remove).body), json(R"({"kind":"DeleteOptions","apiVersion":"v1"})"));
  remove.remove.grace_period_s = 0;
  remove.remove.propagation_policy = "Background";
  remove.remove.preconditions = {.uid = "u", .resource_version = "7"};
  const HttpCall call = encode_call(remove);
  EXPECT_EQ(call.method, "DELETE");
  EXPECT_EQ(call.target, "/api/v1/namespaces/default/pods/a");
  EXPECT_EQ(json(call.body), json(R"({"kind":"DeleteOptions","apiVersion":"v1",
      "gracePeriodSeconds":0,"propagationPolicy":"Background",
      "preconditions":{"uid":"u","resourceVersion":"7"}})"));
}

TEST(DecodeReply, OneCodeHasSeveralReasons) {
  for (const Reason reason : {Reason::Conflict, Reason::AlreadyExists}) {
    const auto answer =
        decode_reply(request(api::Verb::Get, pod(), "default"),
                     {.code = 409,
                      .body = fmt::format(R"({{"kind":"Status","status":"Failure","reason":"{}"}})",
                                          reason_name(reason))});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, reason);
  }
}

TEST(DecodeReply, AListHasItsItemsAndItsNextPage) {
  const Result<api::Answer> answer = decode_reply(
      request(api::Verb::List, pod(), ""),
      {.code = 200,
       .body =
           R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"t","remainingItemCount":3},
               "items":[{"metadata":{"name":"a","namespace":"d","resourceVersion":"7","unknown":1},"spec":{"nodeName":"n"}}]})"});
  ASSERT_TRUE(answer) << answer.error().message;
  const auto& list = std::get<api::ListAnswer>(answer->what);
  EXPECT_EQ(list.revision.value, 12);
  EXPECT_EQ(list.continue_token, "t");
  EXPECT_EQ(list.remaining, 3);
  ASSERT_EQ(list.items.size(), 1U);
  EXPECT_EQ(list.items[0]->meta().name, "a");
  EXPECT_EQ(list.items[0]->revision().value, 7);
}

TEST(DecodeReply, AStatusBecomesTheErrorItTells) {
  const Result<api::Answer> answer = decode_reply(
      request(api::Verb::Create, pod(), "d"),
      {.code = 422,
       .body =
           R"({"kind":"Status","status":"Failure","message":"Pod \"a\" is invalid","reason":"Invalid","code":422,
               "details":{"name":"a","kind":"Pod","causes":[{"reason":"FieldValueRequired","field":"spec.x","message":"Required value"}]}})"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::Invalid);
  EXPECT_EQ(answer.error().message, "Pod \"a\" is invalid");
  EXPECT_EQ(answer.error().name, "a");
  EXPECT_EQ(answer.error().causes,
            (std::vector<Cause>{{"FieldValueRequired", "spec.x", "Required value"}}));
}

// Servers write errors in the form that was asked for.
TEST(DecodeReply, AStatusInProtobufTellsTheSame) {
  std::string type;
  api::ProtobufWriter::bytes(1, "v1", type);
  api::ProtobufWriter::bytes(2, "Status", type);
  std::string body("k8s\0", 4);
  api::ProtobufWriter::bytes(1, type, body);
  api::ProtobufWriter::bytes(
      2,
      api::ProtobufWriter::message(
          api::schema::message("meta/v1", "Status"),
          json(R"({"message":"too old","reason":"Expired","code":410,"details":{"kind":"pods"}})")),
      body);
  const Result<api::Answer> answer =
      decode_reply(request(api::Verb::List, pod(), ""), {.code = 410, .body = body});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::Expired);
  EXPECT_EQ(answer.error().message, "too old");
  EXPECT_EQ(answer.error().kind, "pods");
  const Result<api::Answer> cut =
      decode_reply(request(api::Verb::List, pod(), ""), {.code = 410, .body = body.substr(0, 9)});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message.find("the server answered 410 with"), 0U) << cut.error().message;
}

TEST(DecodeReply, AnUnknownReasonFallsBackToTheCode) {
  const Result<api::Answer> answer =
      decode_reply(request(api::Verb::Get, pod(), "d", "a"),
                   {.code = 403, .body = R"({"kind":"Status","reason":"New","message":"no"})"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::Forbidden);
}

TEST(DecodeReply, AReviewIsADocument) {
  const api::Kind* kind = api::find_kind("authorization.k8s.io", "SelfSubjectAccessReview");
  ASSERT_NE(kind, nullptr);
  const Result<api::Answer> answer = decode_reply(
      request(api::Verb::Create, *kind, ""),
      {.code = 201,
       .body = R"({"kind":"SelfSubjectAccessReview","metadata":{},"status":{"allowed":true}})"});
  ASSERT_TRUE(answer) << answer.error().message;
  const auto* document = std::get_if<api::DocumentAnswer>(&answer->what);
  ASSERT_NE(document, nullptr);
  EXPECT_TRUE(api::find_path(document->document, "status.allowed")->as_bool());
}

TEST(DecodeReply, AnObjectWithoutANameIsAnErrorOfTheServer) {
  for (const char* body : {R"({"kind":"Pod"})", R"({"kind":"Pod","metadata":{}})",
                           R"({"kind":"Pod","metadata":{"labels":{}}})"}) {
    const Result<api::Answer> answer =
        decode_reply(request(api::Verb::Get, pod(), "d", "a"), {.code = 200, .body = body});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message, "the server sent a Pod without a name");
  }
}

TEST(DecodeReply, SomethingElseIsQuoted) {
  for (const int code : {200, 502}) {
    const Result<api::Answer> answer =
        decode_reply(request(api::Verb::Get, pod(), "d", "a"),
                     {.code = code, .body = "<html>Bad gateway\n</html>"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message,
              fmt::format("the server answered {} with \"<html>Bad gateway\", which is no "
                          "Kubernetes answer; does the kubeconfig name an API server?",
                          code));
  }
}

}  // namespace
}  // namespace muster::client
