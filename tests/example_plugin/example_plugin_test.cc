#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "keep_gpu_nodes.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/plugins/default_profile.h"
#include "sim/scenario/scenario.h"

namespace muster {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::filesystem::path(MUSTER_DOCS) / path);
  return {std::istreambuf_iterator<char>(file), {}};
}

scheduler::Profiles with_the_plugin() {
  scheduler::Profile profile = scheduler::default_profile();
  profile.add<scheduler::KeepGpuNodes>(5);
  return profile;
}

TEST(ExamplePlugin, DoesWhatItsScenarioSays) {
  const auto scenario =
      sim::parse_scenario("keep_gpu_nodes.txt", read("examples/plugin/keep_gpu_nodes.txt"));
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_EQ(sim::run_scenario(*scenario, {.profiles = with_the_plugin()}), "");
  EXPECT_NE(sim::run_scenario(*scenario, {}), "") << "it takes the plugin to do that";
}

TEST(ExamplePlugin, IsShownAsItIs) {
  const std::string page = read("plugins.md");
  for (const char* file : {"keep_gpu_nodes.h", "keep_gpu_nodes.cc", "keep_gpu_nodes.txt"}) {
    const std::string text = read(std::string("examples/plugin/") + file);
    ASSERT_FALSE(text.empty()) << file;
    EXPECT_NE(page.find(text + "```"), std::string::npos)
        << "docs/plugins.md shows another " << file << " than docs/examples/plugin has";
  }
}

}  // namespace
}  // namespace muster
