#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "workload/guide_example.h"
#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

std::string contents(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

TEST(ControllerGuide, ShowsTheCodeThatIsCompiled) {
  const std::string example = contents(GUIDE_EXAMPLE);
  const std::string begin = "// guide: begin\n";
  const std::size_t from = example.find(begin) + begin.size();
  const std::string code = example.substr(from, example.find("// guide: end") - from);
  EXPECT_NE(contents(GUIDE_TEXT).find("```cpp\n" + code + "```\n"), std::string::npos)
      << "docs/controller-guide.md shows other code than guide_example.h";
}

TEST(ControllerGuide, ItsExampleDoesWhatItSays) {
  const api::Json run = yaml(R"(
metadata: {name: llm, namespace: ml, uid: u-1}
spec:
  workers: 8
  workerScheduling: {schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}}
)");
  const Result<guide::Objects> objects = guide::objects_for(run);
  ASSERT_TRUE(objects) << objects.error().message;
  std::string text;
  for (const StampedGroup& group : objects->groups)
    text += group.kind->kind + " " +
            api::to_text(*api::find_path(group.document, "spec.schedulingPolicy")) + " " +
            api::to_text(*api::find_path(group.document, "spec.disruptionMode")) + "\n";
  EXPECT_EQ(text,
            "CompositePodGroup {\"gang\":{\"minGroupCount\":2}} {\"all\":{}}\n"
            "PodGroup {\"gang\":{\"minCount\":1}} {\"all\":{}}\n"
            "PodGroup {\"gang\":{\"minCount\":8}} {\"all\":{}}\n");
}

TEST(ControllerGuide, ItsUserLearnsWhichFieldIsWrong) {
  const api::Json run = yaml(R"(
metadata: {name: llm, namespace: ml, uid: u-1}
spec: {workers: 8, workerScheduling: {disruptionMode: {single: {}}}}
)");
  const Result<guide::Objects> objects = guide::objects_for(run);
  ASSERT_FALSE(objects);
  ASSERT_EQ(objects.error().causes.size(), 1U);
  EXPECT_EQ(objects.error().causes.front().field, "spec.workerScheduling.disruptionMode");
}

}  // namespace
}  // namespace muster::workload
