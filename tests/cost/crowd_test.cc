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
#include "cost/pipeline.h"
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

  static api::Request request(api::Verb verb, const api::Kind& kind, std::string_view name_space) {
    api::Request request;
    request.verb = verb;
    request.kind = &kind;
    request.version = kind.stored_version;
    request.name_space = name_space;
    return request;
  }
  // Begins it without going on.
  void submit(api::Request request) {
    registry_.submit(std::move(request), now_, [](const Result<api::Answer>& answer) {
      EXPECT_TRUE(answer.has_value()) << answer.error().message;
    });
  }
  void create(const api::Kind& kind, std::string_view name_space, const std::string& json) {
    api::Request creation = request(api::Verb::Create, kind, name_space);
    ASSERT_TRUE(server::decode_into(creation, json));
    submit(std::move(creation));
    registry_.flush();
  }
  static const api::Kind& quota() { return *api::find_kind("", "ResourceQuota"); }
  // Quotas that every pod counts in, up to so many.
  void create_quotas_up_to(int count) {
    for (; quotas_ < count; ++quotas_)
      create(quota(), "default",
             fmt::format(R"({{"metadata":{{"name":"q{}"}},"spec":{{"hard":{{"pods":"1k"}}}}}})",
                         quotas_));
  }

  // What something costs beside 60 quotas must be less than `factor` times what it costs beside
  // five.
  template <typename Cost>
  void expect_no_growth_with_quotas(const Cost& cost, std::uint64_t factor) {
    create_quotas_up_to(5);
    const std::uint64_t few = cost();
    create_quotas_up_to(60);
    const std::uint64_t many = cost();
    RecordProperty("growth", fmt::format("{} of {}", many, few));
    EXPECT_LT(many, factor * few);
  }
  std::uint64_t cost_of_request(api::Request asked) {
    return measure([&] {
             submit(std::move(asked));
             registry_.flush();
           })
        .total();
  }

  const Time now_ = *parse_time("2026-05-01T10:00:00Z");
  SeededEntropy entropy_{1};
  const std::unique_ptr<store::Store> store_ =
      store::Store::open(store::make_memory_engine()).value();
  server::Registry registry_{*store_, entropy_};
  int quotas_ = 0;
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

// Each of its ports looked at all numbers that those before it had been given.
TEST_F(Crowd, OfPortsCostsAServiceWhatItHas) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const auto cost_of = [&](int count) {
    std::string ports;
    for (int i = 1; i <= count; ++i)
      ports += fmt::format(R"({}{{"name":"n{}","port":{}}})", i == 1 ? "" : ",", i, i);
    api::Request creation = request(api::Verb::Create, *api::find_kind("", "Service"), "default");
    creation.dry_run = true;
    EXPECT_TRUE(server::decode_into(
        creation, fmt::format(R"({{"metadata":{{"name":"s"}},"spec":{{"type":"NodePort",)"
                              R"("ports":[{}]}}}})",
                              ports)));
    return cost_of_request(std::move(creation));
  };
  (void)cost_of(4);
  const std::uint64_t small = cost_of(600);
  const std::uint64_t large = cost_of(2'400);
  RecordProperty("growth", fmt::format("{} of {}", large, small));
  EXPECT_LT(large, 5 * small);
}

// Its finalizers were compared each with each: half a second of everybody's time for 20,000.
TEST_F(Crowd, OfFinalizersCostsADeletionWhatItIs) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  const auto cost_of = [&](int count) {
    std::string finalizers;
    for (int i = 0; i < count; ++i)
      finalizers += fmt::format(R"({}"example.com/f{:05}")", i == 0 ? "" : ",", i);
    const std::string name = fmt::format("m{}", count);
    create(maps, "default",
           fmt::format(R"({{"metadata":{{"name":"{}","finalizers":[{}]}}}})", name, finalizers));
    api::Request deletion = request(api::Verb::Delete, maps, "default");
    deletion.name = name;
    deletion.dry_run = true;
    return cost_of_request(std::move(deletion));
  };
  (void)cost_of(4);
  const std::uint64_t small = cost_of(1'000);
  const std::uint64_t large = cost_of(4'000);
  RecordProperty("growth", fmt::format("{} of {}", large, small));
  EXPECT_LT(large, 5 * small);
}

// All keys of the namespace were collected before the first was looked at.
TEST_F(Crowd, OfObjectsCostsTheDeletionOfOneNothing) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  int made = 0;
  const auto cost_beside = [&](int count) {
    for (; made < count; ++made)
      create(maps, "default", fmt::format(R"({{"metadata":{{"name":"m{:05}"}}}})", made));
    api::Request deletion = request(api::Verb::DeleteCollection, maps, "default");
    deletion.list.limit = 1;
    deletion.dry_run = true;
    return cost_of_request(std::move(deletion));
  };
  const std::uint64_t few = cost_beside(500);
  const std::uint64_t many = cost_beside(3'000);
  RecordProperty("growth", fmt::format("{} of {}", many, few));
  EXPECT_LT(many, few + few / 4);
}

// "example.com/r0000":"1",...
std::string extended_resources(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format(R"({}"example.com/r{:04}":"1")", i == 0 ? "" : ",", i);
  return out;
}

// Each quota reckoned what a pod asks for again: seconds of everybody's time for a large pod.
TEST_F(Crowd, OfQuotasReckonsAPodOnce) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const std::string pod =
      fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[{{"name":"c","image":"i",)"
                  R"("resources":{{"requests":{{{0}}},"limits":{{{0}}}}}}}]}}}})",
                  extended_resources(4'000));
  expect_no_growth_with_quotas(
      [&] {
        create(api::kinds::pod(), "default", pod);
        api::Request deletion = request(api::Verb::Delete, api::kinds::pod(), "default");
        deletion.name = "p";
        return cost_of_request(std::move(deletion));
      },
      3);
}

// The same for each of many pods that go at once.
TEST_F(Crowd, OfQuotasReckonsADeletionOnce) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  int made = 0;
  expect_no_growth_with_quotas(
      [&] {
        for (int i = 0; i < 100; ++i)
          create(api::kinds::pod(), "default",
                 fmt::format(R"({{"metadata":{{"name":"p{}"}},"spec":{{"containers":[)"
                             R"({{"name":"c","image":"i"}}]}}}})",
                             made++));
        return cost_of_request(request(api::Verb::DeleteCollection, api::kinds::pod(), "default"));
      },
      2);
}

// All that were asked for at once read the namespace, and each kept what it had read.
TEST_F(Crowd, OfQuotaChangesReadsANamespaceForOneAtATime) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  for (int i = 0; i < 2'500; ++i)
    create(maps, "default", fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i));
  int made = 0;
  const auto begin_one = [&] {
    api::Request creation = request(api::Verb::Create, quota(), "default");
    creation.dry_run = true;
    ASSERT_TRUE(server::decode_into(creation,
                                    fmt::format(R"({{"metadata":{{"name":"q{}"}},"spec":{{"hard":)"
                                                R"({{"configmaps":"9k"}}}}}})",
                                                made++)));
    submit(std::move(creation));
  };
  const std::uint64_t first = measure(begin_one).total();
  const std::uint64_t second = measure(begin_one).total();
  RecordProperty("growth", fmt::format("{} of {}", second, first));
  EXPECT_TRUE(registry_.unfinished());
  EXPECT_LT(second, first / 3);
  registry_.flush();
  EXPECT_FALSE(registry_.unfinished());
}

// The defaults of a range were filled into every container before anybody looked at the sum.
TEST_F(Crowd, OfDefaultsAndContainersIsRefusedBeforeItIsMade) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  create(*api::find_kind("", "LimitRange"), "default",
         fmt::format(R"({{"metadata":{{"name":"l"}},"spec":{{"limits":[{{"type":"Container",)"
                     R"("default":{{{}}}}}]}}}})",
                     extended_resources(2'000)));
  const auto cost_of = [&](int containers) {
    std::string list;
    for (int i = 0; i < containers; ++i)
      list += fmt::format(R"({}{{"name":"c{}","image":"i"}})", i == 0 ? "" : ",", i);
    api::Request creation = request(api::Verb::Create, api::kinds::pod(), "default");
    EXPECT_TRUE(server::decode_into(
        creation,
        fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[{}]}}}})", list)));
    return measure([&] {
             registry_.submit(std::move(creation), now_, [](const Result<api::Answer>& answer) {
               EXPECT_FALSE(answer.has_value());
             });
             registry_.flush();
           })
        .total();
  };
  const std::uint64_t small = cost_of(40);
  const std::uint64_t large = cost_of(160);
  RecordProperty("growth", fmt::format("{} of {}", large, small));
  EXPECT_LT(large, 2 * small);
}

// A sidecar's resources were gone through for every container after it.
TEST(Cost, OfSidecarsGrowsWithThem) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const auto cost_of = [](int count) {
    std::string body = fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"default"}},"spec":{{"containers":[{{"name":"c",)"
        R"("image":"i"}}],"initContainers":[{{"name":"s","image":"i","restartPolicy":"Always",)"
        R"("resources":{{"requests":{{{0}}},"limits":{{{0}}}}}}})",
        extended_resources(count));
    // Each brings a name of its own.
    for (int i = 0; i < count / 4; ++i)
      body +=
          fmt::format(R"(,{{"name":"i{0}","image":"i","resources":{{"requests":)"
                      R"({{"example.com/a{0:04}":"1"}},"limits":{{"example.com/a{0:04}":"1"}}}}}})",
                      i);
    body += "]}}";
    return measure([&] { EXPECT_TRUE(cost::create(api::kinds::pod(), body)); }).total();
  };
  (void)cost_of(4);
  const std::uint64_t small = cost_of(400);
  const std::uint64_t large = cost_of(1'600);
  RecordProperty("growth", fmt::format("{} of {}", large, small));
  EXPECT_LT(large, 6 * small);
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
