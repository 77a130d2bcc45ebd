#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "api/json.h"
#include "cost/cases.h"
#include "cost/pipeline.h"
#include "cost/work.h"

// What a request costs grows no faster than the request: for every list and map of every kind, in
// every order that is hard on somebody, in every encoding and as every kind of patch.
namespace muster::cost {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::PatchType;

bool is_long() { return std::getenv("MUSTER_TEST_LONG") != nullptr; }

// The same request with `small` entries and with four times as many.
struct Sizes {
  std::size_t small;
  std::size_t large() const { return 4 * small; }
};
Sizes sizes() { return {is_long() ? std::size_t{1500} : std::size_t{64}}; }

// Twice the entries, at most 2.2 times the work: sorting is let through, comparing all with all is
// not.
constexpr double kGrowthMax = 2.2 * 2.2;
// Below this, what a request costs whatever its size hides the rest.
constexpr std::uint64_t kNoise = 30'000;
// The dearest entries say nothing in two bytes and get a dozen defaults each.
constexpr std::uint64_t kWorkPerByteMax = 4'000;

struct Measured {
  Work work;
  std::size_t bytes = 0;
};

class Judge {
 public:
  void compare(const std::string& what, const Measured& small, const Measured& large) {
    ++cases_;
    const auto growth = static_cast<double>(large.work.total()) /
                        static_cast<double>(std::max<std::uint64_t>(small.work.total(), 1));
    const std::uint64_t per_byte = large.work.total() / std::max<std::size_t>(large.bytes, 1);
    if (large.work.total() > kNoise) {
      if (growth > worst_growth_) worst_growth_ = growth, worst_growth_at_ = what;
      if (per_byte > worst_per_byte_) worst_per_byte_ = per_byte, worst_per_byte_at_ = what;
    }
    if (large.work.total() <= kNoise || (growth <= kGrowthMax && per_byte <= kWorkPerByteMax))
      return;
    if (++failures_ > kFailuresShown) return;
    ADD_FAILURE() << what << ": " << small.bytes << " bytes cost " << small.work.steps << " steps, "
                  << small.work.bytes_allocated << " bytes allocated, " << small.work.bytes_moved
                  << " moved; " << large.bytes << " bytes cost " << large.work.steps << ", "
                  << large.work.bytes_allocated << ", " << large.work.bytes_moved << " (" << growth
                  << " times)";
  }

  ~Judge() {
    fmt::print(
        "{} cases; {} failed; at most {:.2f} times for four times the size ({}), {} per byte "
        "({})\n",
        cases_, failures_, worst_growth_, worst_growth_at_, worst_per_byte_, worst_per_byte_at_);
  }
  Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

 private:
  static constexpr int kFailuresShown = 40;
  std::size_t cases_ = 0;
  int failures_ = 0;
  double worst_growth_ = 0;
  std::string worst_growth_at_;
  std::uint64_t worst_per_byte_ = 0;
  std::string worst_per_byte_at_;
};

Measured measure_create(const Target& target, std::size_t count, Order order, Encoding encoding) {
  const std::string json = text_of(document_with(target, entries(target, count, order)), count);
  const auto body = encoded(*target.kind, json, encoding);
  if (!body) return {};
  const Work work = measure([&] { (void)create(*target.kind, *body, encoding); });
  return {.work = work, .bytes = body->size()};
}

void judge_creates(Encoding encoding, std::string_view name) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Judge judge;
  for (const Target& target : targets(is_long()))
    for (const Order order : kOrders) {
      (void)measure_create(target, 4, order, encoding);  // whatever is made once is made now
      judge.compare(fmt::format("{} {} {}", target.text(), order_name(order), name),
                    measure_create(target, sizes().small, order, encoding),
                    measure_create(target, sizes().large(), order, encoding));
    }
}

TEST(Cost, OfJsonGrowsWithIt) { judge_creates(Encoding::Json, "json"); }
TEST(Cost, OfYamlGrowsWithIt) { judge_creates(Encoding::Yaml, "yaml"); }
TEST(Cost, OfProtobufGrowsWithIt) { judge_creates(Encoding::Protobuf, "protobuf"); }

// --- patches

std::string pointer_to(const Target& target) {
  std::string out;
  for (std::size_t i = 0; i + 1 < target.path.size(); ++i) {
    out += "/" + target.path[i]->name;
    if (target.path[i]->repeat == api::schema::Repeat::List) out += "/0";
    if (target.path[i]->repeat == api::schema::Repeat::Map) out += "/a";
  }
  return out + "/" + target.field().name;
}

// An operation on each entry: replaced, tested, moved away and back, added at the end.
std::string operations(const Target& target, std::size_t count, Order order) {
  const Json value = entries(target, count, order);
  const std::string at = pointer_to(target);
  JsonArray patch;
  const auto add = [&](const std::string& path, const Json& entry) {
    patch.push_back(JsonObject{{"op", "replace"}, {"path", path}, {"value", entry}});
    patch.push_back(JsonObject{{"op", "test"}, {"path", path}, {"value", entry}});
    patch.push_back(JsonObject{{"op", "move"}, {"from", path}, {"path", path}});
  };
  if (const JsonArray* items = value.if_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) add(fmt::format("{}/{}", at, i), (*items)[i]);
    for (const Json& item : *items)
      patch.push_back(JsonObject{{"op", "add"}, {"path", at + "/-"}, {"value", item}});
  } else {
    for (const auto& entry : value.get_object()) {
      const std::string path = fmt::format("{}/{}", at, std::string_view(entry.key()));
      patch.push_back(JsonObject{{"op", "add"}, {"path", path}, {"value", entry.value()}});
      patch.push_back(JsonObject{{"op", "move"}, {"from", path}, {"path", path + "2"}});
      patch.push_back(JsonObject{{"op", "remove"}, {"path", path + "2"}});
    }
  }
  return api::to_text(patch);
}

// The list with its order, its deletions and what is retained, all as large as itself.
JsonObject with_directives(const Target& target, std::size_t count, Order order) {
  const api::schema::Field& field = target.field();
  Json value = entries(target, count, order);
  JsonObject out;
  if (field.repeat == api::schema::Repeat::Map) {
    JsonArray retained;
    for (auto& entry : value.get_object()) retained.emplace_back(entry.key());
    value.get_object()["$retainKeys"] = std::move(retained);
  } else if (field.merges) {
    const JsonArray all = entries(target, count, Order::Rising).get_array();
    if (field.message == nullptr) {
      out["$deleteFromPrimitiveList/" + field.name] = all;
    } else if (order == Order::Falling) {
      for (Json& item : value.get_array())
        if (item.is_object()) item.get_object()["$patch"] = "delete";
    } else {
      out["$setElementOrder/" + field.name] = value;
    }
  }
  out[field.name] = std::move(value);
  return out;
}

std::string patch_text(const Target& target, std::size_t count, Order order, PatchType type) {
  switch (type) {
    case PatchType::JsonPatch: return operations(target, count, order);
    case PatchType::Merge:
      return text_of(patch_with(target, {{target.field().name, entries(target, count, order)}}),
                     count);
    case PatchType::StrategicMerge:
      return text_of(patch_with(target, with_directives(target, count, order)), count);
    case PatchType::Apply:
      return text_of(document_with(target, entries(target, count, order)), count);
  }
  return {};
}

Measured measure_patch(const Target& target, std::size_t count, Order order, PatchType type) {
  const std::string before =
      text_of(document_with(target, entries(target, count, Order::Rising)), count);
  const auto old = create(*target.kind, before, Encoding::Json);
  if (!old) return {};
  const std::string body = patch_text(target, count, order, type);
  const Work work = measure([&] { patch(*target.kind, *old, type, body); });
  return {.work = work, .bytes = body.size() + before.size()};
}

void judge_patches(PatchType type, std::string_view name) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Judge judge;
  for (const Target& target : targets(is_long()))
    for (const Order order : kOrders) {
      (void)measure_patch(target, 4, order, type);
      judge.compare(fmt::format("{} {} {}", target.text(), order_name(order), name),
                    measure_patch(target, sizes().small, order, type),
                    measure_patch(target, sizes().large(), order, type));
    }
}

TEST(Cost, OfJsonPatchesGrowsWithThem) { judge_patches(PatchType::JsonPatch, "JSON patch"); }
TEST(Cost, OfMergePatchesGrowsWithThem) { judge_patches(PatchType::Merge, "merge patch"); }
TEST(Cost, OfStrategicPatchesGrowsWithThem) {
  judge_patches(PatchType::StrategicMerge, "strategic merge patch");
}
TEST(Cost, OfApplyGrowsWithIt) { judge_patches(PatchType::Apply, "apply"); }

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
