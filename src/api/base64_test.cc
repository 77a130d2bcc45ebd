#include "api/base64.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(Base64, IsTheStandardOneWithPadding) {
  struct Case {
    std::string bytes;
    std::string_view text;
  };
  const Case cases[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {std::string("\0\xff\xfe", 3), "AP/+"},
      {"\xfb\xff", "+/8="},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(base64_encode(c.bytes), c.text);
    EXPECT_EQ(base64_decode(c.text), c.bytes) << c.text;
  }
}

TEST(Base64, LineBreaksAreSkipped) {
  EXPECT_EQ(base64_decode("Zm\n9v\r\n"), "foo");
  EXPECT_EQ(base64_decode("Zg=\n="), "f");
}

TEST(Base64, RefusesWhatIsOutOfPlace) {
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zg===", "=", "Z===", "====", "Zg==Zg==",
                                      "Zm9vZ", "Zm 9v", "Zm-9", "Zm_9", "Zg=v", "Zm9v="})
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace muster::api
