#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "cost/cases.h"
#include "cost/judge.h"
#include "cost/pipeline.h"
#include "cost/work.h"

// What a request costs grows no faster than the request: for every list and map of every kind, in
// every order that is hard on somebody, in every encoding and (patch_cost_test.cc) as every kind of
// patch.
//
// Not everything is combined with everything, since most of the code does not know what it works
// on:
//
//   knows the kind: defaults, validation
//     every list of every kind, as create and as update
//   knows the description: protobuf, strategic merge, apply
//     every description of a list
//   knows JSON alone: YAML, JSON patch, merge patch
//     every form of a list; with --long every description
//
// A description that a kind before had already (a pod's containers stand in ten kinds) meets new
// code in validation only, which sees documents once they are decoded: two orders of them will do.
namespace muster::cost {
namespace {

using api::Json;
using api::JsonObject;

// The documents of a target, each made once.
class Documents {
 public:
  explicit Documents(const Target& target) : target_(target) {}

  const std::string& text(std::size_t count, Order order) {
    std::string& text = texts_[{count, order}];
    if (text.empty()) text = text_of(document_with(target_, entries(target_, count, order)), count);
    return text;
  }

  // What a create costs, and what it leaves.
  struct Created {
    Measured measured;
    std::optional<Json> document;
  };
  Created create_one(std::size_t count, Order order) {
    const std::string& body = text(count, order);
    Created out;
    out.measured.work = measure([&] { out.document = create(*target_.kind, body); });
    out.measured.bytes = body.size();
    return out;
  }
  // The falling one, which the others then take the place of.
  const Created& stored(std::size_t count) {
    auto [found, is_new] = stored_.try_emplace(count);
    if (is_new) found->second = create_one(count, Order::Falling);
    return found->second;
  }

 private:
  const Target& target_;
  std::map<std::pair<std::size_t, Order>, std::string> texts_;
  std::map<std::size_t, Created> stored_;
};

Measured measure_create(Documents& documents, std::size_t count, Order order) {
  if (order == Order::Falling) return documents.stored(count).measured;
  return documents.create_one(count, order).measured;
}

Measured measure_update(const Target& target, Documents& documents, std::size_t count,
                        Order order) {
  const std::optional<Json>& old = documents.stored(count).document;
  if (!old) return {};
  const std::string& body = documents.text(count, order);
  const Work work = measure([&] { update(*target.kind, *old, body); });
  return {.work = work, .bytes = body.size() + documents.text(count, Order::Falling).size()};
}

TEST(Cost, OfCreatesAndUpdatesGrowsWithThem) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  constexpr Order kCreatedAgain[] = {Order::Falling};
  constexpr Order kUpdatedAgain[] = {Order::Equal};
  Judge creates("creates");
  Judge updates("updates");
  std::size_t number = 0;
  for (const Target& target : targets(/*of_every_kind=*/is_long())) {
    Documents documents(target);
    const bool whole = target.is_first;
    for (const Order order : whole ? std::span<const Order>(kOrders) : kCreatedAgain)
      creates.judge(fmt::format("{} {}", target.text(), order_name(order)),
                    [&](std::size_t count) { return measure_create(documents, count, order); });
    if (!is_long() && number++ % 5 != 0) continue;
    for (const Order order : whole ? std::span<const Order>(kOrders) : kUpdatedAgain)
      updates.judge(
          fmt::format("{} {} update", target.text(), order_name(order)),
          [&](std::size_t count) { return measure_update(target, documents, count, order); });
  }
}

void judge_reading(Encoding encoding, std::string_view name, const std::vector<Target>& targets,
                   std::span<const Order> orders) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Judge judge(name);
  for (const Target& target : targets)
    for (const Order order : orders)
      judge.judge(fmt::format("{} {} {}", target.text(), order_name(order), name),
                  [&](std::size_t count) -> Measured {
                    const std::string json =
                        text_of(document_with(target, entries(target, count, order)), count);
                    const auto body = encoded(*target.kind, json, encoding);
                    if (!body) return {};
                    const Work work = measure([&] { (void)read(*target.kind, *body, encoding); });
                    return {.work = work, .bytes = body->size()};
                  });
}

TEST(Cost, OfYamlGrowsWithIt) { judge_reading(Encoding::Yaml, "yaml", forms(), kOrders); }
// What protobuf is made from is decoded.
TEST(Cost, OfProtobufGrowsWithIt) {
  judge_reading(Encoding::Protobuf, "protobuf", some_targets(1), kDecodedOrders);
}

// The measure itself: it must see a loop over all pairs, a copy per entry, and a shift per entry.
TEST(Cost, SeesWhatGrowsWithTheSquare) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  const auto cost_of = [](std::size_t count) {
    JsonObject object;
    for (std::size_t i = 0; i < count; ++i) object[std::to_string(i)] = 1;
    return measure([&] {
             while (!object.empty()) object.stable_erase(object.begin());
           })
        .total();
  };
  EXPECT_GT(cost_of(1024), 10 * cost_of(256));
  const std::string text(10'000, 'x');
  EXPECT_GE(measure([&] { (void)std::string(text); }).bytes_allocated, text.size());
}

}  // namespace
}  // namespace muster::cost
