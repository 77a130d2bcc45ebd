#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "api/base64.h"
#include "api/decode.h"
#include "api/json_bounds.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/patch/patch.h"
#include "api/protobuf.h"
#include "api/protobuf_testing.h"
#include "api/sample.h"

// The guard against lost members: whatever a document of any message says survives every way
// through the API room.
namespace muster::api {
namespace {

using schema::Message;

Json parsed(std::string_view text) { return parse_json(text).value().value; }

// Decodes the document and writes it; an error fails the test.
std::string canonical(const Message& message, ParsedJson document) {
  Result<Decoded> decoded = decode(message, std::move(document));
  EXPECT_TRUE(decoded.has_value()) << decoded.error().message;
  if (!decoded) return {};
  EXPECT_TRUE(decoded->unknown.empty()) << decoded->unknown[0];
  return canonical_text(message, decoded->document);
}

void expect_round_trips(const Message& message, const Json& document) {
  const std::string text = canonical(message, {document, {}});
  SCOPED_TRACE(message.package + "." + message.name + ": " + text);
  EXPECT_EQ(canonical(message, {parsed(text), {}}), text);
  EXPECT_EQ(canonical_text(message, merge_patch(parsed(text), JsonObject())), text);
  const auto merged = strategic_merge_patch(message, parsed(text), JsonObject());
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(canonical_text(message, *merged), text);

  const auto from_protobuf =
      parse_protobuf(message, ProtobufWriter::message(message, parsed(text)));
  ASSERT_TRUE(from_protobuf.has_value()) << from_protobuf.error().message;
  EXPECT_EQ(canonical(message, *from_protobuf), text);
}

TEST(RoundTrip, LosesNothingOfAnyMessage) {
  SeededEntropy entropy(1);
  for (const Message* message : schema::all_messages()) {
    if (message->bare_list() != nullptr) continue;
    for (int i = 0; i < 4; ++i)
      expect_round_trips(*message, schema::sample(*message, entropy,
                                                  {.depth_max = 2,
                                                   .nodes_max = 200,
                                                   .presence_percent = i == 0 ? 100U : 60U,
                                                   .items_max = 2}));
    if (HasFailure()) return;
  }
}

TEST(RoundTrip, LosesNothingOfAnyKind) {
  SeededEntropy entropy(2);
  for (const Kind* kind : all_kinds()) {
    for (int i = 0; i < 20; ++i) {
      Json document = schema::sample(*kind->message, entropy);
      ensure_object(document.as_object(), "metadata")["name"] = "x";
      expect_round_trips(*kind->message, document);
      const auto decoded = decode(*kind->message, {document, {}});
      const auto object = Object::make(*kind, decoded->document);
      const auto again = Object::parse(*kind, std::string(object->bytes()));
      ASSERT_TRUE(again.has_value());
      EXPECT_EQ(Object::make(*kind, (*again)->document())->bytes(), object->bytes());
      std::string encoded;
      encode(*object, Revision{5}, {}, encoded);
      const Json seen = parsed(encoded);
      EXPECT_EQ(find_string(*find(seen, "metadata"), "resourceVersion"), "5");
      EXPECT_EQ(Object::make(*kind, seen)->bytes(), object->bytes());
    }
    if (HasFailure()) return;
  }
}

TEST(RoundTrip, DefaultsAreStable) {
  SeededEntropy entropy(3);
  for (const Kind* kind : all_kinds()) {
    Json document = decode(*kind->message, {schema::sample(*kind->message, entropy), {}})->document;
    apply_defaults(*kind->message, document);
    const std::string once = canonical_text(*kind->message, document);
    apply_defaults(*kind->message, document);
    EXPECT_EQ(canonical_text(*kind->message, document), once) << kind->kind;
  }
}

TEST(Protobuf, ReadsTheEnvelope) {
  const auto& pod = schema::message("core/v1", "Pod");
  std::string type;
  ProtobufWriter::bytes(1, "v1", type);
  ProtobufWriter::bytes(2, "Pod", type);
  std::string body("k8s\0", 4);
  ProtobufWriter::bytes(1, type, body);
  ProtobufWriter::bytes(2, ProtobufWriter::message(pod, parsed(R"({"metadata":{"name":"p"}})")),
                        body);
  ProtobufWriter::bytes(3, "", body);
  const auto envelope = read_protobuf_envelope(body);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Pod");
  EXPECT_EQ(to_text(parse_protobuf(pod, envelope->raw)->value), R"({"metadata":{"name":"p"}})");
  EXPECT_FALSE(read_protobuf_envelope("{}").has_value());
  EXPECT_FALSE(read_protobuf_envelope(std::string_view("k8s\0\x0a", 5)).has_value());
}

TEST(Protobuf, KeepsZeroValuesOnlyWherePresenceCounts) {
  const auto& spec = schema::message("core/v1", "PodSpec");
  const Json document = parsed(R"({"priority":0,"enableServiceLinks":false,"hostNetwork":false})");
  EXPECT_EQ(to_text(parse_protobuf(spec, ProtobufWriter::message(spec, document))->value),
            R"({"priority":0,"enableServiceLinks":false})");
}

TEST(Protobuf, ReportsUnknownNumbersUnlessTheyAreZero) {
  const auto& map = schema::message("core/v1", "ConfigMap");
  std::string body = ProtobufWriter::message(map, parsed(R"({"metadata":{"name":"m"}})"));
  ProtobufWriter::bytes(98, "", body);
  EXPECT_TRUE(decode(map, *parse_protobuf(map, body))->unknown.empty());
  ProtobufWriter::bytes(99, "new", body);
  const auto decoded = decode(map, *parse_protobuf(map, body));
  EXPECT_EQ(decoded->unknown, std::vector<std::string>{R"(unknown field "99")"});
  EXPECT_EQ(to_text(decoded->document), R"({"metadata":{"name":"m"}})");
}

// What a reader makes of `body`, with bytes behind it that do not belong to it.
std::string read_before(const Message& message, std::string_view body, char behind) {
  const std::string memory = std::string(body) + std::string(64, behind);
  const auto read = parse_protobuf(message, std::string_view(memory).substr(0, body.size()));
  if (!read) return read.error().message;
  const auto decoded = decode(message, *read);
  return decoded ? to_text(decoded->document) : decoded.error().message;
}

// Where a message may be cut so that what is left is a message: after each of its fields. All of
// them are messages here, each with a length before it.
std::set<std::size_t> ends_of_fields(std::string_view body) {
  std::set<std::size_t> ends{0};
  std::size_t at = 0;
  while (at < body.size()) {
    EXPECT_EQ(body[at] & 7, 2);
    std::size_t size = 0;
    ++at;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(body[at++]);
      size |= std::size_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    ends.insert(at += size);
  }
  return ends;
}

TEST(Protobuf, NeverReadsOutOfRange) {
  const auto& pod = schema::message("core/v1", "Pod");
  SeededEntropy entropy(4);
  const std::string sound =
      ProtobufWriter::message(pod, decode(pod, {schema::sample(pod, entropy), {}})->document);
  const std::set<std::size_t> ends = ends_of_fields(sound);
  ASSERT_EQ(ends.size(), 4U) << "metadata, spec and status";
  for (std::size_t size = 0; size < sound.size(); size += size < 2000 ? 1 : 97)
    EXPECT_EQ(parse_protobuf(pod, std::string(sound, 0, size)).has_value(), ends.contains(size));
  for (const std::size_t end : ends)
    EXPECT_TRUE(parse_protobuf(pod, std::string(sound, 0, end)).has_value());
  int understood = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string broken(sound, 0, 1 + entropy.below(400));
    for (int flips = 0; flips < 3; ++flips)
      broken[entropy.below(broken.size())] = static_cast<char>(entropy.next());
    const std::string answer = read_before(pod, broken, '\0');
    EXPECT_EQ(answer, read_before(pod, broken, '\x7f')) << "it looked behind the body";
    if (answer.starts_with('{')) ++understood;
  }
  EXPECT_GT(understood, 0);
}

TEST(Protobuf, ReplacesBytesThatAreNoText) {
  const auto& meta = schema::message("meta/v1", "ObjectMeta");
  const auto with_labels = [](std::string_view key, std::string_view value) {
    std::string entry;
    ProtobufWriter::bytes(1, key, entry);
    ProtobufWriter::bytes(2, value, entry);
    std::string out;
    ProtobufWriter::bytes(1, "n\xff", out);
    ProtobufWriter::bytes(11, entry, out);
    return out;
  };
  const auto read = parse_protobuf(meta, with_labels("k\xc3", "\xfe"));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_text(read->value), "{\"name\":\"n\uFFFD\",\"labels\":{\"k\uFFFD\":\"\uFFFD\"}}");
}

TEST(Protobuf, RefusesWhatJsonCannotHold) {
  const auto& entry = schema::message("meta/v1", "ManagedFieldsEntry");
  const auto with_fields = [&](std::size_t depth) {
    std::string any;
    ProtobufWriter::bytes(1, std::string(depth, '[') + std::string(depth, ']'), any);
    std::string out;
    ProtobufWriter::bytes(7, any, out);
    return parse_protobuf(entry, out);
  };
  EXPECT_TRUE(with_fields(kJsonDepthMax - 1).has_value());
  EXPECT_FALSE(with_fields(kJsonDepthMax).has_value());
}

TEST(Protobuf, RefusesEndlessNesting) {
  const auto& message = schema::message("scheduling/v1beta1", "CompositePodGroupTemplate");
  std::string nested;
  for (int i = 0; i < 1000; ++i) {
    std::string outer;
    ProtobufWriter::bytes(9, nested, outer);
    nested = std::move(outer);
  }
  EXPECT_FALSE(parse_protobuf(message, nested).has_value());
}

}  // namespace
}  // namespace muster::api
