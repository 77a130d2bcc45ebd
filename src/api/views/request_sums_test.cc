#include "api/views/request_sums.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"

namespace muster::api {
namespace {

// The rule in upstream's words, with a sum of everything for each container.
Quantities naive_sum(const Json& spec, std::string_view member) {
  const auto asked = [&](const Json& container) {
    return read_quantities(find_object(part_of(container, "resources"), member));
  };
  Quantities total;
  Quantities sidecars;
  Quantities most;
  for (const Json& container : elements(spec, "initContainers")) {
    Quantities running = asked(container);
    if (always_restarts(container)) {
      add_to(total, running);
      add_to(sidecars, running);
      running = sidecars;
    } else {
      add_to(running, sidecars);
    }
    raise_to(most, running);
  }
  for (const Json& container : elements(spec, "containers")) add_to(total, asked(container));
  raise_to(total, most);
  return total;
}

std::string text_of(const Quantities& quantities) {
  std::string text;
  for (const auto& [name, quantity] : quantities)
    text += fmt::format("{}={} ", name, quantity.text());
  return text;
}

// Few names and amounts, so that they meet; zeros and containers that say nothing among them.
JsonObject random_amounts(std::mt19937& random) {
  constexpr std::string_view kNames[] = {"cpu", "memory", "example.com/a", "example.com/b",
                                         "hugepages-2Mi"};
  constexpr std::string_view kAmounts[] = {"0", "1", "2", "3", "500m", "1Ki", "4Mi", "0.5"};
  JsonObject amounts;
  for (const std::string_view name : kNames)
    if (random() % 3 == 0) amounts[name] = kAmounts[random() % std::size(kAmounts)];
  return amounts;
}

Json random_spec(std::mt19937& random) {
  const auto containers = [&](bool init) {
    JsonArray list;
    for (auto left = random() % 5; left > 0; --left) {
      JsonObject container{{"name", fmt::format("c{}", left)}};
      JsonObject resources;
      if (random() % 4 != 0) resources["requests"] = random_amounts(random);
      if (random() % 4 != 0) resources["limits"] = random_amounts(random);
      if (random() % 5 != 0) container["resources"] = std::move(resources);
      if (init && random() % 2 == 0) container["restartPolicy"] = "Always";
      list.push_back(std::move(container));
    }
    return list;
  };
  return JsonObject{{"initContainers", containers(true)}, {"containers", containers(false)}};
}

TEST(RequestSums, AreThoseOfTheNaiveRule) {
  std::mt19937 random(7);
  for (int i = 0; i < 5'000; ++i) {
    const Json spec = random_spec(random);
    EXPECT_EQ(text_of(RequestSums(spec, nullptr).total({})), text_of(naive_sum(spec, "requests")))
        << to_text(spec);
    EXPECT_EQ(text_of(RequestSums::of_limits(spec).total({})), text_of(naive_sum(spec, "limits")))
        << to_text(spec);
  }
}

TEST(RequestSums, DefaultsCountForEachContainerThatSaysNothing) {
  const auto spec = parse_json(
      R"({"initContainers":[{"restartPolicy":"Always"},{"resources":{"requests":{"cpu":"0"}}}],)"
      R"("containers":[{},{"resources":{"requests":{"memory":"0"}}}]})");
  const Quantities sum =
      RequestSums(spec->value, nullptr).total({.default_cpu = true, .default_memory = true});
  EXPECT_EQ(text_of(sum), "cpu=300m memory=419430400 ");
}

TEST(RequestSums, ThePodsOwnRequestsReplaceOnlyWhatAPodMayAskFor) {
  const auto spec = parse_json(
      R"({"resources":{"requests":{"hugepages-1Gi":"1Gi","cpu":"5","example.com/a":"9"}},)"
      R"("overhead":{"cpu":"1"},)"
      R"("containers":[{"resources":{"requests":{"cpu":"7","example.com/a":"2","memory":"3"}}}]})");
  EXPECT_EQ(text_of(RequestSums(spec->value, nullptr).total({})),
            "cpu=6 example.com/a=2 hugepages-1Gi=1Gi memory=3 ");
  EXPECT_EQ(text_of(RequestSums(spec->value, nullptr).total({.with_pod_level = false})),
            "cpu=8 example.com/a=2 memory=3 ");
}

// While a pod is resized it holds the most of what it asks for, was promised and has.
TEST(RequestSums, AResizeCountsWhereverTheStatusSpeaksOfIt) {
  const auto used = [](std::string_view spec, std::string_view status) {
    const Json told = parse_json(status)->value;
    return text_of(RequestSums(parse_json(spec)->value, &told).total({.with_status = true}));
  };
  const auto of_pod = [](std::string_view cpu) {
    return fmt::format(
        R"({{"resources":{{"requests":{{"cpu":"{}"}}}},)"
        R"("containers":[{{"name":"a","resources":{{"requests":{{"cpu":"500m"}}}}}}]}})",
        cpu);
  };
  constexpr std::string_view kGrown =
      R"({"allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"1500m"}}})";
  EXPECT_EQ(used(of_pod("1"), kGrown), "cpu=2 ");
  EXPECT_EQ(used(of_pod("4"), kGrown), "cpu=4 ");
  EXPECT_EQ(
      used(of_pod("4"),
           R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],)"
           R"("allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"1500m"}}})"),
      "cpu=2 ")
      << "it will not get what it asks for";
  EXPECT_EQ(used(R"({"initContainers":[{"name":"s","restartPolicy":"Always",)"
                 R"("resources":{"requests":{"cpu":"100m"}}}],)"
                 R"("containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}]})",
                 R"({"initContainerStatuses":[{"name":"s","allocatedResources":{"cpu":"300m"}}]})"),
            "cpu=800m ")
      << "a sidecar";
}

}  // namespace
}  // namespace muster::api
