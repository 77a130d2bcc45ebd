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

// What a patch costs grows no faster than the patch and the document together (cost_test.cc says
// which lists are tried with which patches).
namespace muster::cost {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::PatchType;

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

// A document that is patched in many ways; made once for each size.
struct Stored {
  std::optional<Json> document;
  std::size_t bytes = 0;
};
Stored stored(const Target& target, std::size_t count) {
  const std::string text =
      text_of(document_with(target, entries(target, count, Order::Rising)), count);
  return {.document = create(*target.kind, text), .bytes = text.size()};
}

void judge_patches(PatchType type, std::string_view name, const std::vector<Target>& targets,
                   std::span<const Order> orders) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Judge judge(name);
  for (const Target& target : targets) {
    std::map<std::size_t, Stored> known;  // by the number of entries
    const auto measured = [&](std::size_t count, Order order) -> Measured {
      const auto [found, is_new] = known.try_emplace(count);
      Stored& old = found->second;
      if (is_new) old = stored(target, count);
      if (!old.document) return {};
      const std::string body = patch_text(target, count, order, type);
      const Work work = measure([&] { patch(*target.kind, *old.document, type, body); });
      return {.work = work, .bytes = body.size() + old.bytes};
    };
    for (const Order order : orders)
      judge.judge(fmt::format("{} {} {}", target.text(), order_name(order), name),
                  [&](std::size_t count) { return measured(count, order); });
  }
}

TEST(Cost, OfJsonPatchesGrowsWithThem) {
  judge_patches(PatchType::JsonPatch, "JSON patch", forms(), kOrders);
}
TEST(Cost, OfMergePatchesGrowsWithThem) {
  judge_patches(PatchType::Merge, "merge patch", forms(), kOrders);
}
TEST(Cost, OfStrategicPatchesGrowsWithThem) {
  judge_patches(PatchType::StrategicMerge, "strategic merge patch", some_targets(3), kOrders);
}
TEST(Cost, OfApplyGrowsWithIt) {
  judge_patches(PatchType::Apply, "apply", some_targets(4), kDecodedOrders);
}

}  // namespace
}  // namespace muster::cost
