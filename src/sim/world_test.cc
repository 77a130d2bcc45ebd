#include "sim/world.h"

#include <gtest/gtest.h>

#include "api/json.h"

namespace muster::sim {
namespace {

using std::chrono::seconds;

World::Options four_nodes() {
  World::Options options;
  options.shape.pools.push_back({.racks_per_block = 2,
                                 .nodes_per_rack = 2,
                                 .resources = parse_resources("cpu=4,memory=8Gi").value()});
  return options;
}

api::Json pod(std::string_view name, std::string_view cpu, std::string_view annotations = "{}") {
  return api::parse_json(
             fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default","annotations":{}}},
      "spec":{{"restartPolicy":"Never","containers":[{{"name":"main","image":"app:1","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
                         name, annotations, cpu))
      .value()
      .value;
}

std::string text_at(const api::ObjectPtr& object, std::string_view path) {
  if (object == nullptr) return "(gone)";
  const api::Json document = object->document();
  const api::Json* value = api::find_path(document, path);
  return value == nullptr ? "" : std::string(value->as_string());
}

void create(World& world, api::Json document) {
  const auto answer =
      world.ask(client::create_request(api::kinds::pod(), "default", std::move(document)));
  ASSERT_TRUE(answer) << answer.error().message;
}

TEST(World, BringsALonePodFromCreateToRunning) {
  World world(four_nodes());
  world.run_until_idle();
  create(world, pod("web", "1"));
  const api::ObjectPtr web = world.get(api::kinds::pod(), "default", "web");
  EXPECT_FALSE(text_at(web, "spec.nodeName").empty());
  EXPECT_EQ(text_at(web, "status.phase"), "Running");
}

TEST(World, PodsThatDoNotFitWaitForRoom) {
  World world(four_nodes());
  world.run_until_idle();
  for (int i = 0; i < 5; ++i) create(world, pod(fmt::format("big-{}", i), "3"));
  const api::ObjectPtr last = world.get(api::kinds::pod(), "default", "big-4");
  EXPECT_EQ(text_at(last, "spec.nodeName"), "");
  EXPECT_EQ(text_at(last, "status.phase"), "Pending");
  const api::ObjectPtr first = world.get(api::kinds::pod(), "default", "big-0");
  ASSERT_TRUE(world.ask(client::delete_request(*first, std::nullopt)));
  world.advance(seconds{15});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "big-0"), "status.phase"), "(gone)");
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "big-4"), "status.phase"), "Running");
}

Result<api::Answer> resize(World& world, std::string_view name, std::string_view cpu) {
  api::Request request = client::patch_request(
      api::kinds::pod(), "default", name, "resize", api::PatchType::StrategicMerge,
      api::parse_json(
          fmt::format(
              R"({{"spec":{{"containers":[{{"name":"main","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
              cpu))
          .value()
          .value);
  return world.ask(std::move(request));
}

// A resize takes room at once and gives it back: the node says what its containers have got, the
// scheduler counts it, and who waits for room is tried again.
TEST(World, ResizedPodsTakeAndGiveRoom) {
  World::Options options;
  options.shape.pools.push_back({.racks_per_block = 1,
                                 .nodes_per_rack = 1,
                                 .resources = parse_resources("cpu=4,memory=8Gi").value()});
  World world(std::move(options));
  world.run_until_idle();
  create(world, pod("web", "1"));
  const auto grown = resize(world, "web", "3");
  ASSERT_TRUE(grown) << grown.error().message;
  const api::Json web = world.get(api::kinds::pod(), "default", "web")->document();
  const api::Json& status = api::find_path(web, "status.containerStatuses")->as_array().front();
  EXPECT_EQ(*api::find_path(status, "resources.requests.cpu"), "3");
  EXPECT_EQ(*api::find_path(status, "allocatedResources.cpu"), "3");
  EXPECT_EQ(*api::find_path(web, "status.observedGeneration"), 2);

  create(world, pod("second", "2"));
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "second"), "status.phase"), "Pending");
  ASSERT_TRUE(resize(world, "web", "2"));
  world.advance(seconds{15});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "second"), "status.phase"), "Running");
}

TEST(World, PodsEndWhenTheirAnnotationsSay) {
  World world(four_nodes());
  world.run_until_idle();
  create(world, pod("good", "1", R"({"muster.dev/run-time":"30s"})"));
  create(world, pod("bad", "1", R"({"muster.dev/run-time":"1m","muster.dev/exit-code":"3"})"));
  world.advance(seconds{31});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "good"), "status.phase"), "Succeeded");
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "bad"), "status.phase"), "Running");
  world.advance(seconds{31});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "bad"), "status.phase"), "Failed");
}

TEST(World, SameSeedSameHistory) {
  const auto history = [](std::uint64_t seed) {
    World::Options options = four_nodes();
    options.seed = seed;
    World world(std::move(options));
    world.run_until_idle();
    for (int i = 0; i < 8; ++i)
      create(world, pod(fmt::format("p{}", i), "1500m", R"({"muster.dev/run-time":"20s"})"));
    world.advance(seconds{60});
    std::string text;
    for (const api::ObjectPtr& object : world.store().list("").objects)
      text += fmt::format("{} {}\n", object->revision().value, object->bytes());
    return text;
  };
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

TEST(World, AHeldSchedulerListensAndDecidesNothing) {
  World world(four_nodes());
  world.run_until_idle();
  world.hold_scheduler(true);
  create(world, pod("web", "1"));
  world.advance(seconds{5});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "web"), "spec.nodeName"), "");
  EXPECT_EQ(world.scheduler().numbers().active, 1U);
  world.hold_scheduler(false);
  world.run_until_idle();
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "web"), "status.phase"), "Running");
}

TEST(World, AFaultRefusesRequestsUntilItIsGone) {
  World world(four_nodes());
  world.run_until_idle();
  world.set_fault([](const api::Request& request) -> std::optional<Error> {
    if (request.subresource != "binding") return std::nullopt;
    return make_error(Reason::Forbidden, "not today");
  });
  create(world, pod("web", "1"));
  world.advance(seconds{5});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "web"), "spec.nodeName"), "");
  world.set_fault(nullptr);
  world.advance(seconds{15});
  EXPECT_EQ(text_at(world.get(api::kinds::pod(), "default", "web"), "status.phase"), "Running");
}

TEST(World, ARestartedSchedulerKnowsWhatTheApiSays) {
  World world(four_nodes());
  world.run_until_idle();
  for (int i = 0; i < 5; ++i) create(world, pod(fmt::format("big-{}", i), "3"));
  world.restart_scheduler();
  world.run_until_idle();
  EXPECT_EQ(world.scheduler().audit(world.store().list("nodes/").objects,
                                    world.store().list("pods/").objects),
            "");
  EXPECT_EQ(world.scheduler().numbers().unschedulable_now, 1U);
}

TEST(World, PodsOfALostNodeAreCollected) {
  World world(four_nodes());
  ASSERT_TRUE(world.ask(client::create_request(
      api::kinds::node(), "", api::parse_json(R"({"metadata":{"name":"lost"}})").value().value)));
  create(world, [] {
    api::Json document = pod("orphan", "1");
    document.at("spec").as_object().emplace("nodeName", "lost");
    return document;
  }());
  world.advance(seconds(100));
  const auto orphan = [&] { return world.get(api::kinds::pod(), "default", "orphan"); };
  ASSERT_NE(orphan(), nullptr);
  ASSERT_TRUE(
      world.ask(client::delete_request(*world.get(api::kinds::node(), "", "lost"), std::nullopt)));
  world.advance(seconds(39));
  EXPECT_NE(orphan(), nullptr);
  world.advance(seconds(2));
  EXPECT_EQ(orphan(), nullptr);
}

TEST(World, AggregatedRolesFollowTheirParts) {
  World world(four_nodes());
  const api::Kind& roles = *api::find_kind("rbac.authorization.k8s.io", "ClusterRole");
  const auto role = [&](std::string_view name) { return world.get(roles, "", name); };
  const api::Revision at_first = role("admin")->revision();
  world.run_until_idle();
  EXPECT_EQ(role("admin")->revision(), at_first) << "what a fresh server has is complete";
  EXPECT_NE(role("admin")->bytes().find("impersonate"), std::string::npos) << "from edit";
  EXPECT_NE(role("admin")->bytes().find("replicationcontrollers"), std::string::npos)
      << "from view, by edit";
  ASSERT_TRUE(world.ask(client::create_request(
      roles, "",
      api::parse_json(R"({"metadata":{"name":"crystals","labels":)"
                      R"({"rbac.authorization.k8s.io/aggregate-to-view":"true"}},)"
                      R"("rules":[{"apiGroups":["x.io"],"resources":["crystals"],)"
                      R"("verbs":["get"]}]})")
          .value()
          .value)));
  for (const char* name : {"view", "edit", "admin"})
    EXPECT_NE(role(name)->bytes().find("crystals"), std::string::npos) << name;
  ASSERT_TRUE(world.ask(client::delete_request(*role("crystals"), std::nullopt)));
  for (const char* name : {"view", "edit", "admin"})
    EXPECT_EQ(role(name)->bytes().find("crystals"), std::string::npos) << name;
}

}  // namespace
}  // namespace muster::sim
