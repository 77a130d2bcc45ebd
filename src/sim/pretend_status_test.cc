#include "sim/pretend_status.h"

#include <gtest/gtest.h>

#include <string>

#include "api/kinds/kind.h"

namespace muster::sim {
namespace {

api::ObjectPtr pod_with(const std::string& run_time) {
  api::JsonObject metadata{{"name", "p"}, {"namespace", "ns"}};
  metadata["annotations"] = api::JsonObject{{kRunTimeAnnotation, run_time}};
  return api::Object::make(api::kinds::pod(), api::JsonObject{{"metadata", std::move(metadata)}});
}

std::string logged_about(const std::string& run_time) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(annotated_duration(*pod_with(run_time), kRunTimeAnnotation));
  return testing::internal::GetCapturedStderr();
}

TEST(AnnotatedDuration, ThatIsNoneIsQuotedInTheLog) {
  EXPECT_NE(logged_about("soon").find("\"soon\" is no length of time"), std::string::npos);
  EXPECT_LT(logged_about(std::string(200'000, 'x')).size(), 300U);
  EXPECT_NE(logged_about(std::string(65, 'x')).find("xxx…\" is no length"), std::string::npos);
}

}  // namespace
}  // namespace muster::sim
