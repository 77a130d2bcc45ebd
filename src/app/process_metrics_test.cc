#include "app/process_metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

namespace muster::app {
namespace {

double value_of(const std::string& text, std::string_view name) {
  const std::size_t at = text.find("\n" + std::string(name) + " ");
  EXPECT_NE(at, std::string::npos) << name << " is missing in:\n" << text;
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

TEST(ProcessMetrics, AreThoseOfThisProcess) {
  const std::string text = process_metrics();
  EXPECT_GT(value_of(text, "process_cpu_seconds_total"), 0);
  EXPECT_GE(value_of(text, "process_threads"), 1);
  EXPECT_GT(value_of(text, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(value_of(text, "process_virtual_memory_bytes"),
            value_of(text, "process_resident_memory_bytes"));
  EXPECT_GT(value_of(text, "process_start_time_seconds"), 1.6e9);
  EXPECT_GT(value_of(text, "process_max_fds"), value_of(text, "process_open_fds"));
}

TEST(ProcessMetrics, CountOpenFiles) {
  const double before = value_of(process_metrics(), "process_open_fds");
  const std::ifstream file("/proc/self/stat");
  EXPECT_EQ(value_of(process_metrics(), "process_open_fds"), before + 1);
}

}  // namespace
}  // namespace muster::app
