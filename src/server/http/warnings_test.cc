#include "server/http/warnings.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using Texts = std::vector<std::string>;

TEST(Warnings, AreQuotedAndToldOnce) {
  EXPECT_EQ(warning_headers(Texts{}), Texts{});
  EXPECT_EQ(
      warning_headers(Texts{R"(unknown field "a\b")", "old\r\nnews", R"(unknown field "a\b")"}),
      (Texts{R"(299 - "unknown field \"a\\b\"")", R"(299 - "oldnews")"}));
}

TEST(Warnings, ThatAreLongTogetherAreCutButStayApart) {
  Texts many;
  for (int i = 0; i < 9; ++i) many.push_back(std::string(500, 'x') + std::to_string(i));
  const Texts told = warning_headers(many);
  ASSERT_EQ(told.size(), 9U) << "they differ, though what is told of them does not";
  for (const std::string& text : told) EXPECT_EQ(text, "299 - \"" + std::string(256, 'x') + "\"");
  many.resize(8);
  EXPECT_EQ(warning_headers(many)[7].size(), 501 + 8U) << "4008 characters are not too many";
}

TEST(Warnings, AreCutBetweenCharacters) {
  std::string texts;
  for (int i = 0; i < 4100; ++i) texts += "é";
  std::string cut;
  for (int i = 0; i < 256; ++i) cut += "é";
  EXPECT_EQ(warning_headers(Texts{texts}), Texts{"299 - \"" + cut + "\""});
  texts.resize(std::size_t{2} * 4096);
  EXPECT_EQ(warning_headers(Texts{texts})[0].size(), texts.size() + 8) << "counted in characters";
}

TEST(Warnings, HaveAnEnd) {
  Texts many;
  for (int i = 0; i < 100; ++i) many.push_back(std::to_string(i) + std::string(300, 'x'));
  EXPECT_EQ(warning_headers(many).size(), 16U);
}

}  // namespace
}  // namespace muster::server
