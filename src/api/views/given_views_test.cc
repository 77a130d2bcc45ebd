#include <gtest/gtest.h>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/budget_view.h"
#include "api/views/service_view.h"

namespace muster::api {
namespace {

std::shared_ptr<Object> object_of(std::string_view group, std::string_view kind,
                                  std::string_view json) {
  return Object::make(*find_kind(group, kind), parse_json(json)->value);
}

TEST(BudgetView, SelectsByLabels) {
  const auto budget =
      object_of("policy", "PodDisruptionBudget",
                R"({"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"app":"web"}}}})");
  EXPECT_TRUE(budget->view<BudgetView>().selects({{"app", "web"}, {"tier", "front"}}));
  EXPECT_FALSE(budget->view<BudgetView>().selects({{"app", "db"}}));
}

TEST(BudgetView, WithoutASelectorSelectsNothing) {
  const auto budget =
      object_of("policy", "PodDisruptionBudget", R"({"metadata":{"name":"b"},"spec":{}})");
  EXPECT_FALSE(budget->view<BudgetView>().selects({{"app", "web"}}));
}

TEST(ServiceView, ReadsWhatTheServiceWasGiven) {
  const auto service = object_of(
      "", "Service",
      R"({"metadata":{"name":"s"},"spec":{"clusterIP":"10.96.0.7","ports":[{"port":80,"nodePort":30080},{"port":81}]}})");
  EXPECT_EQ(service->view<ServiceView>().cluster_ip, "10.96.0.7");
  EXPECT_EQ(service->view<ServiceView>().node_ports, std::vector<std::int64_t>{30080});
}

}  // namespace
}  // namespace muster::api
