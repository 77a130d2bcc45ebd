#include "client/remote/stream_pieces.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::client {
namespace {

std::string frame(std::string_view content) {
  std::string out;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    out += static_cast<char>((content.size() >> shift) & 0xffU);
  return out.append(content);
}

// The pieces of a stream that comes in parts of this size.
std::vector<std::string> cut(std::string_view stream, std::size_t part) {
  StreamPieces pieces;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < stream.size(); at += part) {
    const Result<void> added =
        pieces.add(stream.substr(at, part), [&](std::string_view piece) -> Result<void> {
          found.emplace_back(piece);
          return {};
        });
    EXPECT_TRUE(added) << added.error().message;
  }
  return found;
}

TEST(StreamPiecesTest, LinesAndFramesMayBeCutAnywhere) {
  const std::string long_one(300, 'x');
  const std::string lines = "{1}\n\n{2}\n" + long_one + "\n{3}\n{half";
  const std::string frames =
      frame("a") + frame("") + frame(long_one) + frame("{b}\n") + std::string(2, '\0');
  for (std::size_t part = 1; part <= 350; ++part) {
    EXPECT_EQ(cut(lines, part), (std::vector<std::string>{"{1}", "{2}", long_one, "{3}"}));
    EXPECT_EQ(cut(frames, part), (std::vector<std::string>{"a", "", long_one, "{b}\n"}));
  }
}

TEST(StreamPiecesTest, TheFirstByteTellsTheForm) {
  const auto none = [](std::string_view) -> Result<void> { return {}; };
  StreamPieces pieces;
  EXPECT_EQ(pieces.form(), StreamPieces::Form::Unknown);
  ASSERT_TRUE(pieces.add("{", none));
  EXPECT_EQ(pieces.form(), StreamPieces::Form::Lines);
  pieces.start();
  ASSERT_TRUE(pieces.add(frame("a"), none));
  EXPECT_EQ(pieces.form(), StreamPieces::Form::Frames);
}

TEST(StreamPiecesTest, APieceThatIsTooLongEndsTheStream) {
  const auto none = [](std::string_view) -> Result<void> { return {}; };
  for (const std::size_t part : {1U, 4U, 5U}) {
    StreamPieces pieces;
    const std::string start("\x04\x00\x00\x01z", 5);  // one more than 64 MiB
    Result<void> added;
    for (std::size_t at = 0; at < start.size() && added; at += part)
      added = pieces.add(std::string_view(start).substr(at, part), none);
    EXPECT_FALSE(added) << part;
  }
  StreamPieces lines;
  const std::string much(std::size_t{1} << 20, 'x');
  Result<void> added;
  for (int i = 0; i < 70 && added; ++i) added = lines.add(much, none);
  EXPECT_FALSE(added);
}

TEST(StreamPiecesTest, AnErrorOfTheReaderIsPassedOn) {
  StreamPieces pieces;
  int calls = 0;
  const Result<void> added =
      pieces.add(frame("a") + frame("b"), [&](std::string_view) -> Result<void> {
        ++calls;
        return fail(Reason::BadRequest, "no");
      });
  EXPECT_FALSE(added);
  EXPECT_EQ(calls, 1);
}

TEST(StreamPiecesTest, APieceMayHaveTheLongestLength) {
  const auto none = [](std::string_view) -> Result<void> { return {}; };
  StreamPieces frames;
  EXPECT_TRUE(frames.add(std::string("\x04\x00\x00\x00z", 5), none));
  EXPECT_EQ(frames.form(), StreamPieces::Form::Frames);
  StreamPieces lines;
  EXPECT_TRUE(lines.add("\x05", none));
  EXPECT_EQ(lines.form(), StreamPieces::Form::Lines) << "no frame begins so";
  lines.start();
  EXPECT_TRUE(lines.add("", none));
  EXPECT_EQ(lines.form(), StreamPieces::Form::Unknown) << "nothing has come";
}

TEST(StreamPiecesTest, ANewStreamKnowsNothingOfTheLast) {
  std::vector<std::string> found;
  const auto each = [&](std::string_view piece) -> Result<void> {
    found.emplace_back(piece);
    return {};
  };
  StreamPieces pieces;
  ASSERT_TRUE(pieces.add("{half", each));
  pieces.start();
  ASSERT_TRUE(pieces.add("{whole}\n", each));
  EXPECT_EQ(found, std::vector<std::string>{"{whole}"});
}

TEST(StreamPiecesTest, AnErrorInAPieceOfSeveralPartsIsPassedOn) {
  const auto refuse = [](std::string_view) -> Result<void> {
    return fail(Reason::BadRequest, "no");
  };
  StreamPieces lines;
  ASSERT_TRUE(lines.add("{a", refuse));
  EXPECT_FALSE(lines.add("}\n", refuse));
  StreamPieces frames;
  ASSERT_TRUE(frames.add(frame("abc").substr(0, 5), refuse));
  EXPECT_FALSE(frames.add("bc", refuse));
}

}  // namespace
}  // namespace muster::client
