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

TEST(EncodeCall, AWatchAsksForAllThatItNeedsAndHasAHalfMinuteMore) {
  api::Request watch = request(api::Verb::Watch, pod(), "");
  EXPECT_EQ(encode_call(watch).target, "/api/v1/pods?watch=true");
  EXPECT_EQ(encode_call(watch).patience, std::nullopt);
  api::ListOptions& list = watch.list;
  list.field_selector = "spec.nodeName=n";
  list.resource_version = "7";
  list.resource_version_match = "NotOlderThan";
  list.allow_bookmarks = true;
  list.send_initial_events = true;
  list.timeout_s = 300;
  const HttpCall call = encode_call(watch);
  EXPECT_EQ(call.method, "GET");
  EXPECT_EQ(call.target,
            "/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn&resourceVersion=7"
            "&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=true"
            "&timeoutSeconds=300");
  EXPECT_EQ(call.patience, std::chrono::seconds{330});
  list = {};
  list.send_initial_events = false;
  EXPECT_EQ(encode_call(watch).target, "/api/v1/pods?watch=true&sendInitialEvents=false");
}

TEST(EncodeCall, AnUpdateAndADeletionOfManyHaveTheirOptions) {
  api::Request update = request(api::Verb::Update, pod(), "d", "a");
  update.body = json(R"({"metadata":{"name":"a"}})");
  update.field_manager = "me";
  update.field_validation = api::FieldValidation::Strict;
  EXPECT_EQ(encode_call(update).method, "PUT");
  EXPECT_EQ(encode_call(update).target,
            "/api/v1/namespaces/d/pods/a?fieldManager=me&fieldValidation=Strict");
  api::Request remove = request(api::Verb::DeleteCollection, pod(), "d");
  remove.list.label_selector = "a=b";
  remove.dry_run = true;
  EXPECT_EQ(encode_call(remove).method, "DELETE");
  EXPECT_EQ(encode_call(remove).target, "/api/v1/namespaces/d/pods?labelSelector=a%3Db&dryRun=All");
  EXPECT_EQ(encode_call(remove).content_type, "application/json");
}

TEST(EncodeCall, EveryPatchHasItsMediaType) {
  api::Request patch = request(api::Verb::Patch, pod(), "d", "a");
  patch.body = json("{}");
  patch.force = true;
  patch.field_validation = api::FieldValidation::Ignore;
  for (const auto& [type, media] :
       {std::pair{api::PatchType::JsonPatch, "application/json-patch+json"},
        std::pair{api::PatchType::Merge, "application/merge-patch+json"},
        std::pair{api::PatchType::StrategicMerge, "application/strategic-merge-patch+json"},
        std::pair{api::PatchType::Apply, "application/apply-patch+yaml"}}) {
    patch.patch_type = type;
    EXPECT_EQ(encode_call(patch).content_type, media);
  }
  EXPECT_EQ(encode_call(patch).target,
            "/api/v1/namespaces/d/pods/a?fieldValidation=Ignore&force=true");
}

TEST(EncodeCall, OnlyLettersDigitsAndFourSignsStandForThemselves) {
  api::Request list = request(api::Verb::List, pod(), "");
  list.list.continue_token = "azAZ09-._~@[`{/:\xc3\xa9";
  EXPECT_EQ(encode_call(list).target, "/api/v1/pods?continue=azAZ09-._~%40%5B%60%7B%2F%3A%C3%A9");
}

TEST(EncodeCall, ADeletionMayDependOnOneOfTwo) {
  api::Request remove = request(api::Verb::Delete, pod(), "d", "a");
  remove.remove.preconditions = {.uid = "u", .resource_version = {}};
  EXPECT_EQ(json(encode_call(remove).body).at("preconditions"), json(R"({"uid":"u"})"));
  remove.remove.preconditions = {.uid = {}, .resource_version = "7"};
  EXPECT_EQ(json(encode_call(remove).body).at("preconditions"), json(R"({"resourceVersion":"7"})"));
}

TEST(DecodeReply, AStatusTellsWhatItIsAboutAndWhenToComeAgain) {
  const auto error_of = [](int retry_after_s, std::string_view details) {
    return decode_reply(request(api::Verb::Get, pod(), "d", "a"),
                        {.code = 503,
                         .body = fmt::format(R"({{"kind":"Status","details":{{{}}}}})", details),
                         .retry_after_s = retry_after_s})
        .error();
  };
  const Error full =
      error_of(0, R"("name":"a","group":"g","kind":"k","uid":"u","retryAfterSeconds":7)");
  EXPECT_EQ(full.reason, Reason::ServiceUnavailable);
  EXPECT_EQ(full.name + full.group + full.kind + full.uid, "agku");
  EXPECT_EQ(full.retry_after_s, 7);
  EXPECT_EQ(error_of(3, R"("retryAfterSeconds":7)").retry_after_s, 7);
  EXPECT_EQ(error_of(3, "").retry_after_s, 3) << "the header says so";
  EXPECT_EQ(error_of(3, R"("retryAfterSeconds":0)").retry_after_s, 3);
}

TEST(DecodeReply, ACodeThatKubernetesDoesNotHaveIsTheFaultOfServerOrRequest) {
  for (const auto& [code, reason] :
       {std::pair{499, Reason::BadRequest}, std::pair{418, Reason::BadRequest},
        std::pair{501, Reason::InternalError}, std::pair{599, Reason::InternalError},
        std::pair{409, Reason::AlreadyExists}, std::pair{504, Reason::Timeout}}) {
    for (const char* body : {R"({"kind":"Status"})", "oops"}) {
      const auto answer =
          decode_reply(request(api::Verb::Get, pod(), "d", "a"), {.code = code, .body = body});
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().reason, reason) << code;
    }
  }
}

TEST(DecodeReply, AnObjectAndAStatusSayWhatHasHappened) {
  const auto decode = [](int code, std::string body) {
    return decode_reply(request(api::Verb::Delete, pod(), "d", "a"),
                        {.code = code, .body = std::move(body), .warnings = {"careful"}})
        .value();
  };
  const std::string object = R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}})";
  const api::Answer made = decode(201, object);
  EXPECT_EQ(made.warnings, std::vector<std::string>{"careful"});
  EXPECT_TRUE(std::get<api::ObjectAnswer>(made.what).created);
  EXPECT_EQ(std::get<api::ObjectAnswer>(made.what).revision.value, 7);
  EXPECT_FALSE(std::get<api::ObjectAnswer>(decode(200, object).what).created);
  const api::Answer done = decode(
      200, R"({"kind":"Status","details":{"name":"a","group":"g","kind":"pods","uid":"u"}})");
  const auto& status = std::get<api::StatusAnswer>(done.what);
  EXPECT_EQ(status.code, 200);
  EXPECT_EQ(status.name + status.group + status.kind + status.uid, "agpodsu");
  EXPECT_EQ(std::get<api::StatusAnswer>(decode(202, R"({"kind":"Status"})").what).code, 202);
}

TEST(DecodeReply, OfSomethingElseTheFirstLineIsQuotedOrThatThereIsNone) {
  const auto quoted = [](std::string body) {
    const std::string message =
        decode_reply(request(api::Verb::Get, pod(), "d", "a"), {.code = 500, .body = body})
            .error()
            .message;
    const std::string start = "the server answered 500 with ";
    return message.substr(start.size(), message.find(", which is") - start.size());
  };
  EXPECT_EQ(quoted(""), "an empty body");
  EXPECT_EQ(quoted("\nmore"), "an empty body");
  EXPECT_EQ(quoted("7"), "\"7\"");
  EXPECT_EQ(quoted(std::string(201, 'x')), "\"" + std::string(200, 'x') + "\"");
  EXPECT_EQ(quoted(R"({"kind":"Pod"})"), R"("{"kind":"Pod"}")") << "it is no error";
}

}  // namespace
}  // namespace muster::client
