// What a write costs beside many objects that others wrote, and what parts of one cost that are too
// many for the cases of cost_test.cc at their small size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "api/apply/apply.h"
#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/views/amounts.h"
#include "base/entropy.h"
#include "base/time.h"
#include "cost/work.h"
#include "server/core/request/decode_body.h"
#include "server/core/write/registry.h"
#include "store/engines/memory.h"
#include "store/store.h"

namespace muster::cost {
namespace {

class Crowd : public ::testing::Test {
 protected:
  Crowd() { create(api::kinds::name_space(), "", R"({"metadata":{"name":"default"}})"); }

  void create(const api::Kind& kind, std::string_view name_space, const std::string& json) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = &kind;
    request.version = kind.stored_version;
    request.name_space = name_space;
    ASSERT_TRUE(server::decode_into(request, json));
    registry_.submit(std::move(request), now_, [](const Result<api::Answer>& answer) {
      EXPECT_TRUE(answer.has_value()) << answer.error().message;
    });
    registry_.flush();
  }

 private:
  const Time now_ = *parse_time("2026-05-01T10:00:00Z");
  SeededEntropy entropy_{1};
  const std::unique_ptr<store::Store> store_ =
      store::Store::open(store::make_memory_engine()).value();
  server::Registry registry_{*store_, entropy_};
};

// Each write of a Service looked at all others for what is free: tens of milliseconds of
// everybody's time once there were tens of thousands.
TEST_F(Crowd, OfServicesCostsANewOneNothing) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  int made = 0;
  const auto make_one = [&] {
    create(*api::find_kind("", "Service"), "default",
           fmt::format(R"({{"metadata":{{"name":"s{}"}},"spec":{{"type":"NodePort",)"
                       R"("ports":[{{"port":80}}]}}}})",
                       made++));
  };
  const auto make_up_to = [&](int count) {
    while (made < count) make_one();
  };
  make_up_to(20);
  const std::uint64_t few = measure(make_one).total();
  make_up_to(1'000);
  const std::uint64_t many = measure(make_one).total();
  EXPECT_LT(many, 2 * few);
}

// A list that is kept in order by putting each name into its place cost a second of everybody's
// time for a pod of half a megabyte.
TEST(Amounts, CostWhatTheyAreInAnyOrder) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  // Names that begin with `letter`, falling.
  const auto read = [](char letter, int count) {
    api::JsonObject map;
    for (int i = count; i > 0; --i) map[fmt::format("r{:05}{}", i, letter)] = "1";
    return api::read_quantities(&map);
  };
  const auto cost_of = [&](int count) {
    return measure([&] {
             api::Quantities sum = read('a', count);
             api::add_to(sum, read('b', count));
             api::raise_to(sum, read('c', count));
             EXPECT_EQ(sum.size(), static_cast<std::size_t>(3 * count));
             EXPECT_EQ(sum[1].first, "r00001b");
           })
        .total();
  };
  EXPECT_LT(cost_of(4'000), 6 * cost_of(1'000));
}

// A ConfigMap with so many managers: each has applied a key of its own, and one that all share.
api::Json managed_map(int count) {
  api::JsonArray managers;
  api::JsonObject data{{"shared", "x"}};
  for (int i = 0; i < count; ++i) {
    const std::string key = fmt::format("k{:05}", i);
    data[key] = "x";
    api::JsonObject keys{{"f:shared", api::JsonObject()}};
    keys["f:" + key] = api::JsonObject();
    managers.push_back(api::JsonObject{{"manager", "m" + key},
                                       {"operation", "Apply"},
                                       {"apiVersion", "v1"},
                                       {"time", "2026-01-01T00:00:00Z"},
                                       {"fieldsType", "FieldsV1"},
                                       {"fieldsV1", api::JsonObject{{"f:data", std::move(keys)}}}});
  }
  api::JsonObject metadata{{"name", "x"}, {"managedFields", std::move(managers)}};
  return api::JsonObject{{"metadata", std::move(metadata)}, {"data", std::move(data)}};
}

// Nobody bounds how many managers an object has but its size; so what each of them adds to a write
// must not depend on how many others there are.
TEST(Managers, CostAWriteWhatTheySay) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const api::schema::Message& message = *api::find_kind("", "ConfigMap")->message;
  const api::Write write{.manager = "new",
                         .api_version = "v1",
                         .subresource = "",
                         .now = "2026-02-02T00:00:00Z",
                         .beyond = {}};
  const api::Json config =
      api::JsonObject{{"metadata", api::JsonObject{{"name", "x"}}},
                      {"data", api::JsonObject{{"shared", "y"}, {"k00001", "y"}, {"k00002", "x"}}}};
  const auto cost_of = [&](int count) {
    const api::Json live = managed_map(count);
    return measure([&] {
             EXPECT_FALSE(api::apply(message, write, live, config, /*force=*/false));
             EXPECT_TRUE(api::apply(message, write, live, config, /*force=*/true));
             api::Json after = live;
             after.get_object()["data"].get_object()["shared"] = "z";
             api::record_update(message, write, live, after);
           })
        .total();
  };
  EXPECT_LT(cost_of(2'000), 6 * cost_of(500));
}

}  // namespace
}  // namespace muster::cost
