#include <gtest/gtest.h>

#include "api/json.h"
#include "server/http/listener_testing.h"

// Patches as bodies of requests: what is read before the core sees them.
namespace muster::server {
namespace {

using testing::HttpReply;
using testing::Site;
using testing::text_at;
using testing::Wire;

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

class PatchTest : public ::testing::Test {
 protected:
  PatchTest() {
    EXPECT_EQ(wire_
                  .ask({.method = "POST",
                        .target = kMaps,
                        .headers = {},
                        .body = R"({"metadata":{"name":"m"},"data":{"a":"1"}})"})
                  .code,
              201);
  }
  HttpReply patch(const std::string& type, const std::string& query, const std::string& body) {
    return wire_.ask({.method = "PATCH",
                      .target = kMaps + "/m?" + query,
                      .headers = {"Content-Type: application/" + type},
                      .body = body});
  }

  Site site_;
  Wire wire_{site_, {.client = &site_.admin}};
};

TEST_F(PatchTest, AKeyThatStandsTwiceIsAWarningOrAnError) {
  const std::string twice = R"({"data":{"b":"1","b":"2"}})";
  const HttpReply warned = patch("merge-patch+json", "", twice);
  EXPECT_EQ(warned.code, 200);
  EXPECT_EQ(warned.headers.at("warning"), R"(299 - "duplicate field \"data.b\"")");
  EXPECT_EQ(text_at(warned.body, "data"), R"({"a":"1","b":"2"})");
  EXPECT_FALSE(
      patch("merge-patch+json", "fieldValidation=Ignore", twice).headers.contains("warning"));
  for (const char* type : {"merge-patch+json", "strategic-merge-patch+json"}) {
    const HttpReply refused = patch(type, "fieldValidation=Strict", twice);
    EXPECT_EQ(refused.code, 422);
    EXPECT_EQ(text_at(refused.body, "message"),
              R"( "" is invalid: patch: Invalid value: "{\"data\":{\"b\":\"1\",\"b\":\"2\"}}": )"
              R"(strict decoding error: duplicate field "data.b")");
  }
}

TEST_F(PatchTest, AnApplyIsYamlAndAsStrict) {
  const std::string head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
  EXPECT_EQ(patch("apply-patch+yaml", "fieldManager=x", head + "data: {c: '1'}\n").code, 200);
  const std::string twice = head + "data: {c: '1', c: '1'}\n";
  EXPECT_EQ(patch("apply-patch+yaml", "fieldManager=x", twice).headers.at("warning"),
            R"(299 - "duplicate field \"data.c\"")");
  const HttpReply refused =
      patch("apply-patch+yaml", "fieldManager=x&fieldValidation=Strict", twice);
  EXPECT_EQ(refused.code, 400);
  EXPECT_EQ(text_at(refused.body, "message"),
            R"(error strict decoding YAML: duplicate field "data.c")");
  const HttpReply broken = patch("apply-patch+yaml", "fieldManager=x", "a: b: c");
  EXPECT_EQ(broken.code, 400);
  EXPECT_TRUE(text_at(broken.body, "message")
                  .starts_with("error decoding YAML: error converting YAML to JSON: yaml:"));
}

TEST_F(PatchTest, WhoGivesNoNameIsTrackedAllTheSame) {
  const HttpReply read = wire_.get(kMaps + "/m");
  const auto parsed = api::parse_json(read.body);
  ASSERT_TRUE(parsed);
  const api::Json* entries = api::find_path(parsed->value, "metadata.managedFields");
  ASSERT_NE(entries, nullptr);
  EXPECT_EQ(api::find_string(entries->get_array().at(0), "manager"), "unknown");
}

TEST_F(PatchTest, AScaleIsShownAsATable) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  EXPECT_EQ(wire_
                .ask({.method = "POST",
                      .target = deployments,
                      .headers = {},
                      .body = R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":)"
                              R"({"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
                              R"({"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})"})
                .code,
            201);
  const HttpReply table = wire_.ask(
      {.method = "GET",
       .target = deployments + "/d/scale",
       .headers = {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"},
       .body = ""});
  EXPECT_EQ(text_at(table.body, "kind"), "Table");
  const auto parsed = api::parse_json(table.body);
  const api::Json& row = api::find_array(parsed->value, "rows")->at(0);
  EXPECT_EQ(api::to_text(api::find_array(row, "cells")->at(1)), "2");
  EXPECT_EQ(text_at(wire_.get(deployments + "/d/scale").body, "kind"), "Scale");
}

}  // namespace
}  // namespace muster::server
