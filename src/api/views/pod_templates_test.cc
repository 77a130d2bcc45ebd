#include "api/views/pod_templates.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/views/pod_view.h"

namespace muster::api {
namespace {

std::unique_ptr<PodView> read(const std::string& spec, PodTemplates& templates) {
  return PodView::of(parse_json(R"({"spec":{)" + spec + "}}")->value, &templates);
}
std::string asks_cpu(int cores) {
  return R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
         std::to_string(cores) + R"("}}}])";
}

TEST(PodTemplates, PodsOfOneTemplateShareIt) {
  PodTemplates templates;
  const auto one = read(asks_cpu(1) + R"(,"nodeName":"n1","priority":1)", templates);
  const auto same = read(asks_cpu(1) + R"(,"nodeName":"n2","priority":2)", templates);
  const auto larger = read(asks_cpu(2), templates);
  EXPECT_EQ(&one->needs, &same->needs);
  EXPECT_EQ(same->node_name, "n2");
  EXPECT_EQ(same->priority, 2);
  EXPECT_NE(&one->needs, &larger->needs);
  EXPECT_EQ(larger->needs.requests.cpu_milli, 2000);
  EXPECT_EQ(templates.size(), 2U);
}

// Equal needs are not enough: images and the scheduler's name are shared with them.
TEST(PodTemplates, WhatIsSharedIsEqualInEverything) {
  PodTemplates templates;
  const auto one = read(R"("containers":[{"name":"c","image":"a"}])", templates);
  const auto other = read(R"("containers":[{"name":"c","image":"b"}])", templates);
  const auto ours =
      read(R"("schedulerName":"muster","containers":[{"name":"c","image":"a"}])", templates);
  EXPECT_EQ(one->needs_hash, other->needs_hash);
  EXPECT_EQ(one->images, std::vector<std::string>{"a:latest"});
  EXPECT_EQ(other->images, std::vector<std::string>{"b:latest"});
  EXPECT_EQ(one->scheduler_name, "");
  EXPECT_EQ(ours->scheduler_name, "muster");
}

TEST(PodTemplates, WhatNobodyHasIsForgotten) {
  PodTemplates templates;
  const auto stays = read(asks_cpu(1), templates);
  for (int cores = 2; cores < 2000; ++cores) read(asks_cpu(cores), templates);
  EXPECT_LE(templates.size(), 64U);
  EXPECT_EQ(&read(asks_cpu(1), templates)->needs, &stays->needs);
}

// Who makes many needs of one hash is not compared with all of them.
TEST(PodTemplates, NotManyOfOneHashAreKept) {
  PodTemplates templates;
  std::vector<std::shared_ptr<const PodTemplate>> kept;
  for (int i = 0; i < 1000; ++i) {
    PodTemplate made;
    made.images.push_back(std::to_string(i));
    kept.push_back(templates.share(std::move(made)));
    EXPECT_EQ(kept.back()->images.front(), std::to_string(i));
  }
  EXPECT_EQ(templates.size(), 8U);
}

}  // namespace
}  // namespace muster::api
