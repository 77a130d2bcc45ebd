#include "oddities/odd_documents.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace muster::oddities {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::schema::Field;
using api::schema::Message;
using api::schema::Repeat;
using api::schema::Shape;

namespace {

// How deep what is made up nests: most of a pod can be reached from its top.
constexpr int kDepthMax = 4;

const std::vector<std::string> kTexts = {"",
                                         "a",
                                         "db",
                                         "web",
                                         "x/y",
                                         "1",
                                         "-1",
                                         "10%",
                                         "101%",
                                         "Always",
                                         "None",
                                         "muster",
                                         "default",
                                         "example.com/thing",
                                         "kubernetes.io/hostname",
                                         "topology.kubernetes.io/zone",
                                         "topology.kubernetes.io/rack",
                                         "*/5 * * * *",
                                         "spec.nodeName",
                                         "z1-b1-r1-n1",
                                         "\xc3\xa9\xc3\xa9",
                                         std::string(300, 'a')};
const std::vector<std::string> kQuantities = {"0",  "1",   "-1",   "100m", "1Gi",
                                              "1n", "1e9", "500k", "9E",   "9223372036854775807"};
const std::vector<std::string> kTimes = {"2025-12-31T23:00:00Z", "2026-01-01T00:10:00Z",
                                         "2036-01-01T00:00:00Z"};
const std::vector<std::string> kDurations = {"0s", "1ns", "5s", "1h", "-1s"};
const std::vector<std::int64_t> kIntegers = {0,
                                             1,
                                             -1,
                                             2,
                                             5,
                                             30,
                                             1000,
                                             std::numeric_limits<std::int32_t>::max(),
                                             std::numeric_limits<std::int32_t>::min()};

// What the server writes itself, or what would only lose the object among the others.
bool is_fixed(const Field& field) {
  static constexpr std::array kNames = {"name",     "namespace",         "uid",
                                        "status",   "resourceVersion",   "managedFields",
                                        "selfLink", "deletionTimestamp", "creationTimestamp"};
  return std::ranges::find(kNames, field.name) != kNames.end();
}

}  // namespace

void OddDocuments::change(const Message& message, JsonObject& value) {
  std::vector<const Field*> known;
  std::vector<const Field*> below_here;  // members to go on in
  for (const Field* field : message.members) {
    if (is_fixed(*field)) continue;
    known.push_back(field);
    const Json* member = value.if_contains(field->name);
    if (member == nullptr || field->shape != Shape::Message) continue;
    const bool is_object = field->repeat == Repeat::One && member->is_object();
    const bool is_list = field->repeat == Repeat::List && member->is_array();
    if (is_object || (is_list && !member->get_array().empty())) below_here.push_back(field);
  }
  if (!below_here.empty() && !one_in(5)) {
    const Field& field = *one_of(below_here);
    Json& member = value[field.name];
    if (member.is_array())
      change_list(field, member.get_array());
    else
      change(*field.message, member.get_object());
    return;
  }
  if (known.empty()) return;
  const Field& field = *one_of(known);
  if (one_in(6))
    value.erase(field.name);
  else
    value[field.name] = any_value(field);
}

void OddDocuments::change_list(const Field& field, JsonArray& list) {
  const std::size_t at = below(list.size());
  switch (below(8)) {
    case 0: list.push_back(Json(list[at])); break;
    case 1: list.erase(list.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 2: list.push_back(one_value(field, 0)); break;
    default:
      if (list[at].is_object()) change(*field.message, list[at].get_object());
  }
}

Json OddDocuments::any_value(const Field& field) { return value(field, 0); }

Json OddDocuments::value(const Field& field, int depth) {
  if (field.repeat == Repeat::One) return one_value(field, depth);
  if (field.repeat == Repeat::List) {
    JsonArray list;
    for (std::uint64_t left = below(4); left > 0; --left) list.push_back(one_value(field, depth));
    return list;
  }
  JsonObject map;
  for (std::uint64_t left = below(4); left > 0; --left)
    map[one_of(kTexts)] = one_value(field, depth);
  return map;
}

Json OddDocuments::one_value(const Field& field, int depth) {
  if (!field.allowed.empty() && !one_in(20)) return Json(one_of(field.allowed));
  switch (field.shape) {
    case Shape::Bool: return one_in(2);
    case Shape::Int32:
    case Shape::Int64: return one_of(kIntegers);
    case Shape::Double: return 1.5;
    case Shape::Bytes: return "YQ==";
    case Shape::Quantity: return Json(one_of(kQuantities));
    case Shape::IntOrString: return one_in(2) ? Json(one_of(kIntegers)) : Json(one_of(kTexts));
    case Shape::Time: return Json(one_of(kTimes));
    case Shape::MicroTime: return "2026-01-01T00:00:00.000000Z";
    case Shape::Duration: return Json(one_of(kDurations));
    case Shape::Any: return JsonObject();
    case Shape::Message: return object(*field.message, depth + 1);
    case Shape::String: break;
  }
  return Json(one_of(kTexts));
}

JsonObject OddDocuments::object(const Message& message, int depth) {
  JsonObject out;
  for (const Field* field : message.members)
    if (field->required || (depth < kDepthMax && one_in(3))) {
      if (depth < 2 * kDepthMax) out[field->name] = value(*field, depth);
    }
  return out;
}

}  // namespace muster::oddities
