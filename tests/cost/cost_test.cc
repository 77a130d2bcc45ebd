#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
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

// How many entries the smaller of two requests has; the larger one has four times as many.
std::size_t entry_count() { return is_long() ? 1'500 : 64; }

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

  double growth_from(const Measured& smaller) const {
    return static_cast<double>(work.total()) /
           static_cast<double>(std::max<std::uint64_t>(smaller.work.total(), 1));
  }
  std::uint64_t per_byte() const { return work.total() / std::max<std::size_t>(bytes, 1); }
};

// Judges one kind of request after the other, and says at the end which came closest.
class Judge {
 public:
  Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  ~Judge() {
    fmt::print("{} cases, {} failed; most growth: {:.2f} ({}); most per byte: {} ({})\n", cases_,
               failures_, growth_, growth_at_, per_byte_, per_byte_at_);
  }

  // `measured(count)` carries out the request with so many entries.
  template <typename Measure>
  void judge(const std::string& what, Measure&& measured) {
    ++cases_;
    (void)measured(4);  // what is made only once is made now
    const std::size_t count = entry_count();
    Measured small = measured(count);
    Measured large = measured(4 * count);
    // What a limit bounds may grow faster until it meets the limit, and not beyond.
    if (!holds(small, large)) small = std::exchange(large, measured(16 * count));
    note(what, small, large);
    if (holds(small, large) || ++failures_ > kFailuresShown) return;
    ADD_FAILURE() << what << ": " << text(small) << "; " << text(large);
  }

 private:
  static constexpr int kFailuresShown = 40;

  static bool holds(const Measured& small, const Measured& large) {
    return large.work.total() <= kNoise ||
           (large.growth_from(small) <= kGrowthMax && large.per_byte() <= kWorkPerByteMax);
  }
  static std::string text(const Measured& one) {
    return fmt::format("{} bytes cost {} steps, {} bytes allocated, {} moved", one.bytes,
                       one.work.steps, one.work.bytes_allocated, one.work.bytes_moved);
  }
  void note(const std::string& what, const Measured& small, const Measured& large) {
    if (large.work.total() <= kNoise) return;
    if (large.growth_from(small) > growth_) {
      growth_ = large.growth_from(small);
      growth_at_ = what;
    }
    if (large.per_byte() > per_byte_) {
      per_byte_ = large.per_byte();
      per_byte_at_ = what;
    }
  }

  std::size_t cases_ = 0;
  int failures_ = 0;
  double growth_ = 0;
  std::string growth_at_;
  std::uint64_t per_byte_ = 0;
  std::string per_byte_at_;
};

// All targets in the long run; else each `stride`th, beginning at `first`.
std::vector<Target> some_targets(std::size_t stride, std::size_t first) {
  std::vector<Target> all = targets(is_long());
  if (is_long()) return all;
  std::vector<Target> some;
  for (std::size_t i = first; i < all.size(); i += stride) some.push_back(std::move(all[i]));
  return some;
}

Measured measure_create(const Target& target, std::size_t count, Order order, Encoding encoding) {
  const std::string json = text_of(document_with(target, entries(target, count, order)), count);
  const auto body = encoded(*target.kind, json, encoding);
  if (!body) return {};
  const Work work = measure([&] { (void)create(*target.kind, *body, encoding); });
  return {.work = work, .bytes = body->size()};
}

void judge_creates(Encoding encoding, std::string_view name, const std::vector<Target>& targets) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Judge judge;
  for (const Target& target : targets)
    for (const Order order : kOrders)
      judge.judge(
          fmt::format("{} {} {}", target.text(), order_name(order), name),
          [&](std::size_t count) { return measure_create(target, count, order, encoding); });
}

TEST(Cost, OfJsonGrowsWithIt) { judge_creates(Encoding::Json, "json", some_targets(1, 0)); }
TEST(Cost, OfYamlGrowsWithIt) { judge_creates(Encoding::Yaml, "yaml", some_targets(5, 0)); }
TEST(Cost, OfProtobufGrowsWithIt) {
  judge_creates(Encoding::Protobuf, "protobuf", some_targets(5, 1));
}

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

void judge_patches(PatchType type, std::string_view name, const std::vector<Target>& targets) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Judge judge;
  for (const Target& target : targets)
    for (const Order order : kOrders)
      judge.judge(fmt::format("{} {} {}", target.text(), order_name(order), name),
                  [&](std::size_t count) { return measure_patch(target, count, order, type); });
}

TEST(Cost, OfJsonPatchesGrowsWithThem) {
  judge_patches(PatchType::JsonPatch, "JSON patch", some_targets(15, 1));
}
TEST(Cost, OfMergePatchesGrowsWithThem) {
  judge_patches(PatchType::Merge, "merge patch", some_targets(5, 2));
}
TEST(Cost, OfStrategicPatchesGrowsWithThem) {
  judge_patches(PatchType::StrategicMerge, "strategic merge patch", some_targets(5, 3));
}
TEST(Cost, OfApplyGrowsWithIt) { judge_patches(PatchType::Apply, "apply", some_targets(5, 4)); }

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
