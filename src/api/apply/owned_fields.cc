#include "api/apply/owned_fields.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_edit.h"

namespace muster::api {
namespace {

constexpr std::string_view kItself = ".";

// A node below the root that says nothing more is a path of the set by itself.
bool is_member(const JsonObject& node) { return node.empty() || node.contains(kItself); }

// Whether to_fields_v1() would write the very same: every node an object, its elements known and in
// rising order, and `.` only where something follows it.
bool is_normal(const Json& value, bool is_root) {
  const JsonObject* const node = value.if_object();
  if (node == nullptr) return false;
  std::string_view last;
  for (const auto& [key, below] : *node) {
    const std::string_view element = key;
    if (element <= last) return false;
    last = element;
    if (element == kItself) {
      if (is_root || node->size() == 1 || !below.is_object() || !below.get_object().empty())
        return false;
    } else if (!is_path_element(element) || !is_normal(below, false)) {
      return false;
    }
  }
  return true;
}

bool node_meets(const JsonObject& node, const FieldSet& other, bool is_root) {
  if (!is_root && other.member && is_member(node)) return true;
  return std::ranges::any_of(other.children, [&](const auto& child) {
    const Json* const below = node.if_contains(child.first);
    return below != nullptr && node_meets(below->get_object(), child.second, false);
  });
}

// Adds members, given in rising order, to a node whose members stand in rising order.
void insert_in_order(JsonObject& node, std::vector<std::pair<std::string_view, Json>> more) {
  JsonObject merged(node.storage());
  merged.reserve(node.size() + more.size());
  auto next = more.begin();
  for (auto& [key, below] : node) {
    for (; next != more.end() && next->first < std::string_view(key); ++next)
      merged.emplace(next->first, std::move(next->second));
    merged.emplace(key, std::move(below));
  }
  for (; next != more.end(); ++next) merged.emplace(next->first, std::move(next->second));
  node = std::move(merged);
}

void add_to(JsonObject& node, const FieldSet& more, bool is_root) {
  const bool was_leaf = !is_root && node.empty();
  const bool was_member = !is_root && is_member(node);
  std::vector<std::pair<std::string_view, Json>> missing;
  // A leaf that gets parts must say from now on that it is a path by itself.
  const bool has_parts = !node.empty() || !more.children.empty();
  if (has_parts && !is_root && (was_leaf || (more.member && !was_member)))
    missing.emplace_back(kItself, JsonObject(node.storage()));
  for (const auto& [element, below] : more.children) {
    if (Json* const mine = node.if_contains(element))
      add_to(mine->get_object(), below, false);
    else
      missing.emplace_back(element, Json(to_fields_v1(below), node.storage()));
  }
  if (!missing.empty()) insert_in_order(node, std::move(missing));
}

// Returns whether anything of the node is left in the set.
bool remove_from(JsonObject& node, const FieldSet& gone, bool is_root) {
  const bool stays_member = !is_root && is_member(node) && !gone.member;
  std::vector<std::size_t> empty;
  for (const auto& [element, below] : gone.children) {
    const auto mine = node.find(element);
    if (mine != node.end() && !remove_from(mine->value().get_object(), below, false))
      empty.push_back(static_cast<std::size_t>(mine - node.begin()));
  }
  const bool says_itself = node.contains(kItself);
  const bool has_parts = node.size() > empty.size() + (says_itself ? 1 : 0);
  // `.` stands first, if at all.
  if (says_itself && !(stays_member && has_parts)) empty.insert(empty.begin(), 0);
  if (!empty.empty()) erase_members_at(node, empty);
  return stays_member || has_parts;
}

}  // namespace

Result<OwnedFields> OwnedFields::extract(Json& fields) {
  if (is_normal(fields, true)) return OwnedFields(std::move(fields));
  return OwnedFields(TRY(parse_fields_v1(fields)));
}

FieldSet OwnedFields::set() const { return *parse_fields_v1(root_); }

bool OwnedFields::meets(const FieldSet& other) const {
  return node_meets(root_.get_object(), other, true);
}

void OwnedFields::add(const FieldSet& more) { add_to(root_.get_object(), more, true); }

void OwnedFields::remove(const FieldSet& gone) { remove_from(root_.get_object(), gone, true); }

Json OwnedFields::take_json() && { return std::move(root_); }

}  // namespace muster::api
