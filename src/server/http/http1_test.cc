#include "server/http/http1.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

#include "api/json.h"
#include "server/core/request/request_meter.h"
#include "server/http/compress.h"
#include "server/http/health.h"
#include "server/http/render.h"

namespace muster::server {
namespace {

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

TEST(Http1, AHeadSaysHowTheBodyEnds) {
  HttpResponse response;
  response.body = "{}\n";
  response.headers.emplace_back("Warning", "299 - \"w\"");
  std::string out;
  write_head(response, {.date = kDate}, out);
  EXPECT_EQ(
      out,
      "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: application/json\r\n"
      "Warning: 299 - \"w\"\r\nCache-Control: no-cache, private\r\nContent-Length: 3\r\n\r\n");
  out.clear();
  write_head(HttpResponse{}, {.keep_alive = false, .streams = true, .date = kDate}, out);
  EXPECT_NE(out.find("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"), std::string::npos);
  EXPECT_EQ(out.find("Content-Length"), std::string::npos);
  out.clear();
  write_head(HttpResponse{},
             {.keep_alive = false, .http_1_0 = true, .streams = true, .date = kDate}, out);
  EXPECT_EQ(out.find("chunked"), std::string::npos);
}

TEST(Http1, NotModifiedHasNoBody) {
  HttpResponse response;
  response.code = 304;
  response.headers.emplace_back("Cache-Control", "public");
  std::string out;
  write_head(response, {.date = kDate}, out);
  EXPECT_EQ(out,
            "HTTP/1.1 304 Not Modified\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nCache-Control: "
            "public\r\n\r\n");
}

TEST(Http1, WritesDatesAsHttpDoes) {
  const Time time = std::chrono::sys_days{std::chrono::November / 6 / 1994} +
                    std::chrono::hours(8) + std::chrono::minutes(49) + std::chrono::seconds(37);
  EXPECT_EQ(http_date(time), kDate);
}

TEST(Http1, ChunksAreFramedInPlace) {
  std::string out = "head";
  const std::size_t opened = open_chunk(out);
  out += "0123456789abcdef";
  close_chunk(out, opened);
  EXPECT_EQ(out, "head00000010\r\n0123456789abcdef\r\n");
}

TEST(Http1, AnEmptyChunkIsTakenBack) {
  std::string out = "head";
  const std::size_t opened = open_chunk(out);
  close_chunk(out, opened);
  EXPECT_EQ(out, "head");
}

// At most `bytes` of what was packed.
std::string unpacked(std::string_view packed, std::size_t bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(bytes + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(IndentJson, IsForHumans) {
  EXPECT_EQ(indent_json(R"({"a":[1,{"b":"x,\"{}:"}],"c":{},"d":[]})"), R"({
  "a": [
    1,
    {
      "b": "x,\"{}:"
    }
  ],
  "c": {},
  "d": []
})");
}

TEST(IndentJson, ComesInPiecesAsWell) {
  const std::string json = R"({"a":[1,{"b":"x,\\\"{}:"},[[]]],"c":{},"d":[],"e":"\\"})"
                           "\n";
  for (std::size_t bytes = 1; bytes < 5; ++bytes) {
    Indenter indenter;
    std::string out;
    for (std::size_t at = 0; at < json.size(); at += bytes)
      indenter.add(std::string_view(json).substr(at, bytes), out);
    EXPECT_EQ(out, indent_json(json));
  }
}

// The same text in pieces, in every form.
TEST(ListText, ComesInPieces) {
  api::ListAnswer list;
  list.revision = {7};
  list.continue_token = "t";
  list.remaining = 3;
  for (int i = 0; i < 5; ++i)
    list.items.push_back(api::Object::make(
        api::kinds::pod(), api::parse_json(R"({"metadata":{"name":"p)" + std::to_string(i) +
                                           R"(","namespace":"default"}})")
                               .value()
                               .value));
  for (const Form form : {Form::Full, Form::Metadata, Form::Table}) {
    const Rendering how{.kind = &api::kinds::pod(), .version = "v1", .form = form};
    std::string whole;
    write_list(how, list, Time{}, whole);
    EXPECT_TRUE(api::parse_json(whole)) << whole;
    ListText text(how, list, Time{});
    std::string out;
    int pieces = 1;
    while (text.write_some(1, out)) ++pieces;
    EXPECT_EQ(out, whole);
    EXPECT_EQ(pieces, 5);
  }
  list.items.clear();
  std::string empty;
  EXPECT_FALSE(
      ListText({.kind = &api::kinds::pod(), .version = "v1"}, list, Time{}).write_some(1, empty));
  EXPECT_TRUE(api::parse_json(empty)) << empty;
}

TEST(Gzip, PacksPieces) {
  std::string text;
  const auto packer = Gzip::begin();
  ASSERT_TRUE(packer);
  std::string packed;
  for (int i = 0; i < 100; ++i) {
    std::string piece;
    for (int k = 0; k < 1'000; ++k) piece += std::to_string(i * k);
    packer->add(piece, packed);
    text += piece;
  }
  packer->end(packed);
  EXPECT_LT(packed.size(), text.size());
  EXPECT_EQ(unpacked(packed, text.size()), text);
  EXPECT_EQ(unpacked(gzip(text).value(), text.size()), text);
}

TEST(Gzip, PacksWhatRepeats) {
  const std::string text(1U << 20U, 'x');
  const auto packed = gzip(text);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), text.size() / 100);
  EXPECT_EQ(packed->substr(0, 2), "\x1f\x8b");
}

TEST(Health, SaysOkUnlessAskedForMore) {
  const HealthCheck checks[] = {{"ping"}, {"store"}};
  const HttpResponse short_answer =
      answer_health({.endpoint = "livez", .check = ""}, Query(), checks);
  EXPECT_EQ(short_answer.code, 200);
  EXPECT_EQ(short_answer.body, "ok");
  EXPECT_EQ(short_answer.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(answer_health({.endpoint = "livez", .check = ""}, Query("verbose"), checks).body,
            "[+]ping ok\n[+]store ok\nlivez check passed\n");
  EXPECT_EQ(
      answer_health({.endpoint = "livez", .check = ""}, Query("verbose&exclude=store&exclude=x"),
                    checks)
          .body,
      "[+]ping ok\n[+]store excluded: ok\n"
      "warn: some health checks cannot be excluded: no matches for \"x\"\nlivez check passed\n");
}

TEST(Health, NamesWhatFailedAndNothingElse) {
  const HealthCheck checks[] = {{"ping"}, {"store", false}};
  const HttpResponse failed = answer_health({.endpoint = "readyz", .check = ""}, Query(), checks);
  EXPECT_EQ(failed.code, 500);
  EXPECT_EQ(failed.body, "[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n");
  EXPECT_EQ(answer_health({.endpoint = "readyz", .check = ""}, Query("exclude=store"), checks).code,
            200);
  EXPECT_EQ(answer_health({.endpoint = "readyz", .check = "ping"}, Query(), checks).body, "ok");
  EXPECT_EQ(answer_health({.endpoint = "readyz", .check = "store"}, Query(), checks).code, 500);
  EXPECT_EQ(answer_health({.endpoint = "readyz", .check = "x"}, Query(), checks).code, 404);
}

TEST(RequestMeter, WritesUpstreamsNames) {
  RequestMeter meter;
  const RequestMeter::Labels labels{.verb = "LIST",
                                    .group = "",
                                    .version = "v1",
                                    .resource = "pods",
                                    .subresource = "",
                                    .scope = "cluster",
                                    .dry_run = false};
  meter.count(labels, 200, std::chrono::milliseconds(10));
  meter.count(labels, 200, std::chrono::milliseconds(1));
  meter.count(labels, 410, std::chrono::seconds(100));
  const std::string text = meter.text();
  for (
      const char* line : {
          R"(apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 2)",
          R"(apiserver_request_total{code="410",)",
          R"(verb="LIST",version="v1",le="0.005"} 1)",
          R"(verb="LIST",version="v1",le="0.025"} 2)",
          R"(verb="LIST",version="v1",le="60"} 2)",
          R"(verb="LIST",version="v1",le="+Inf"} 3)",
      })
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
}

}  // namespace
}  // namespace muster::server
