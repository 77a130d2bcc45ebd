#include "base/program_pages.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace muster {
namespace {

std::string& written() {
  static std::string text = "before";
  return text;
}

// Only what can be read from the program's file again is given back.
TEST(ProgramPages, WhatTheProgramHasWrittenStays) {
  written() = "a text that is too long to be kept inside the string";
  const auto heap = std::make_unique<std::string>(100'000, 'x');
  for (int i = 0; i < 2; ++i) release_program_pages();
  EXPECT_EQ(written(), "a text that is too long to be kept inside the string");
  EXPECT_EQ(*heap, std::string(100'000, 'x'));
}

}  // namespace
}  // namespace muster
