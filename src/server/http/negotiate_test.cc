#include "server/http/negotiate.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
const std::string kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const std::string kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

// The form, or the code of the refusal.
std::string form(const std::string& accept, Answerable what = {}) {
  const auto form = negotiate_form(accept, what);
  if (!form) return std::to_string(http_code(form.error().reason));
  const std::string suffix =
      form->meta_version == "v1" ? "" : " " + std::string(form->meta_version);
  return (form->form == Form::Full    ? "full"
          : form->form == Form::Table ? "table"
                                      : "metadata") +
         suffix;
}

TEST(Negotiate, PicksTheFormOfAnAnswer) {
  struct Case {
    std::string accept, want;
  };
  const Case cases[] = {
      {"", "full"},
      {"application/json", "full"},
      {"*/*", "full"},
      {"application/*", "full"},
      {"APPLICATION/JSON; charset=utf-8", "full"},
      {"application/json;stream=watch", "full"},
      {"application/vnd.kubernetes.protobuf,application/json", "full"},
      {"application/vnd.kubernetes.protobuf, */*", "full"},
      {"application/json, */*;q=0.8", "full"},
      {kTable + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "table"},
      {"application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "table v1beta1"},
      {"application/json;as=Table;v=v2;g=meta.k8s.io,application/json", "full"},
      {"application/json;q=0.9," + kTable, "table"},
      {"application/json;q=0.5," + kTable + ";q=nan,application/json;q=0.7", "table"},
      {kTable + ";q=0.5,application/json", "full"},
      {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
           kMetadata + ",application/json",
       "metadata"},
      {"application/vnd.kubernetes.protobuf", "406"},
      {"application/yaml", "406"},
      {"text/html", "406"},
      {"application/json;q=0", "406"},
      {"application/json;as=Unicorn;v=v1;g=meta.k8s.io", "406"},
      {",,;;", "406"},
  };
  for (const Case& c : cases) EXPECT_EQ(form(c.accept), c.want) << c.accept;
}

TEST(Negotiate, MetadataOfAListIsAskedForAsAList) {
  EXPECT_EQ(form(kMetadataList, {.list = true}), "metadata");
  EXPECT_EQ(form(kMetadata + ",application/json", {.list = true}), "406");
  EXPECT_EQ(form(kMetadataList + ",application/json"), "406");
}

TEST(Negotiate, WhatHasNoTableIsNotAcceptableAsOne) {
  EXPECT_EQ(form(kTable, {.table = false}), "406");
  EXPECT_EQ(form(kTable + ",application/json", {.table = false}), "full");
}

TEST(Negotiate, RefusalListsWhatThereIs) {
  EXPECT_EQ(negotiate_form("text/html", {}).error().message,
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
}

TEST(Negotiate, AggregatedDiscoveryIsForThoseWhoPreferIt) {
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string v2beta1 =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  EXPECT_TRUE(negotiate_aggregated_discovery(v2 + "," + v2beta1 + ",application/json").value());
  EXPECT_FALSE(negotiate_aggregated_discovery(v2beta1 + ",application/json").value());
  EXPECT_FALSE(negotiate_aggregated_discovery("").value());
  EXPECT_FALSE(negotiate_aggregated_discovery("*/*").value());
  EXPECT_FALSE(negotiate_aggregated_discovery(v2beta1));
}

TEST(Negotiate, BodiesAreJsonUnlessTheySayOtherwise) {
  EXPECT_EQ(body_format("").value(), BodyFormat::Json);
  EXPECT_EQ(body_format("application/json; charset=utf-8").value(), BodyFormat::Json);
  EXPECT_EQ(body_format("application/yaml").value(), BodyFormat::Yaml);
  EXPECT_EQ(body_format("application/vnd.kubernetes.protobuf").value(), BodyFormat::Protobuf);
  const auto refused = body_format("text/plain");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::UnsupportedMediaType);
  EXPECT_EQ(refused.error().message,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, "
            "application/yaml, application/vnd.kubernetes.protobuf");
}

TEST(Negotiate, PatchTypesAreMediaTypes) {
  EXPECT_EQ(patch_type("application/json-patch+json").value(), api::PatchType::JsonPatch);
  EXPECT_EQ(patch_type("application/merge-patch+json;charset=utf-8").value(),
            api::PatchType::Merge);
  EXPECT_EQ(patch_type("application/strategic-merge-patch+json").value(),
            api::PatchType::StrategicMerge);
  EXPECT_EQ(patch_type("application/apply-patch+yaml").value(), api::PatchType::Apply);
  EXPECT_EQ(patch_type("application/json").error().message, "415: Unsupported Media Type");
}

TEST(Negotiate, GzipMayBeRefused) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("deflate, gzip;q=0.5"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip(""));
}

TEST(Negotiate, QualitiesAreBetweenNothingAndAll) {
  const auto qualities = [](std::string_view accept) {
    std::string out;
    for (const MediaRange& range : parse_accept(accept))
      out += fmt::format("{}={} ", range.type, range.quality);
    return out;
  };
  EXPECT_EQ(qualities("a;q=0.5, b;q=2, c;q=-1, d;q=x, e;q=0.5x, f; Q=\"0.7\", g;q="),
            "b=1 d=1 e=1 g=1 f=0.7 a=0.5 c=0 ");
  EXPECT_EQ(qualities("\tA/B \t;q=1\t,,C"), "a/b=1 c=1 ");
  EXPECT_EQ(qualities("a;q=\""), "a=1 ");
}

TEST(Negotiate, ParametersOfATransformAreKept) {
  const std::vector<MediaRange> ranges =
      parse_accept("application/json;as=\"Table\";G=meta.k8s.io;v=v1;x=y");
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].as, "Table");
  EXPECT_EQ(ranges[0].group, "meta.k8s.io");
  EXPECT_EQ(ranges[0].version, "v1");
}

TEST(Negotiate, ATransformThatIsNotQuiteOursIsPassedOver) {
  for (const char* accept :
       {"application/json;as=Table;v=v1;g=meta", "application/json;as=Table;v=v1",
        "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io",
        "application/json;v=v1;g=meta.k8s.io", "application/json;v=v1",
        "application/json;g=meta.k8s.io"}) {
    EXPECT_EQ(form(accept), "406") << accept;
    EXPECT_EQ(form(std::string(accept) + ",*/*"), "full") << accept;
  }
}

TEST(Negotiate, AggregatedDiscoveryMustBeAskedForWhole) {
  const std::string plain = ",application/json";
  for (const char* accept :
       {"application/json;g=apidiscovery.k8s.io;v=v2",
        "text/html;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=meta.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;q=0"}) {
    EXPECT_FALSE(negotiate_aggregated_discovery(accept)) << accept;
    EXPECT_FALSE(negotiate_aggregated_discovery(accept + plain).value()) << accept;
  }
}

TEST(Negotiate, PlainDocumentsAreJson) {
  for (const char* accept : {"", "application/json", "text/html, */*;q=0.1", "application/*"})
    EXPECT_TRUE(negotiate_json(accept)) << accept;
  for (const char* accept : {"text/html", "application/json;q=0", "application/yaml"})
    EXPECT_EQ(negotiate_json(accept).error().reason, Reason::NotAcceptable) << accept;
}

TEST(Negotiate, OpenApiIsJsonOrProtobufUnderTheNameThatGoTakes) {
  const std::string ours = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const std::string old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  EXPECT_EQ(negotiate_openapi_v2("").value(), "application/json");
  EXPECT_EQ(negotiate_openapi_v2("*/*").value(), "application/json");
  EXPECT_EQ(negotiate_openapi_v2(old).value(), ours);
  EXPECT_EQ(negotiate_openapi_v2(ours + ",application/json").value(), ours);
  EXPECT_EQ(negotiate_openapi_v2(old + ";q=0.5,application/json").value(), "application/json");
  EXPECT_EQ(
      negotiate_openapi_v2("text/html").error().message,
      "406: Not Acceptable\n\nAvailable representations: application/json, " + ours + ", " + old);
}

}  // namespace
}  // namespace muster::server
