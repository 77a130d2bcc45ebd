#include "controllers/owner_blocks.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace muster::controllers {
namespace {

using api::Json;

// Every stored object begins like this (api/object.h).
constexpr std::string_view kStart = R"({"metadata":{)";
constexpr std::string_view kReferences = R"("ownerReferences")";

// Behind the text that begins with the quote at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

// Behind the value that begins at `at`, in JSON that is well-formed.
std::size_t end_of_value(std::string_view json, std::size_t at) {
  for (std::size_t open = 0; at < json.size();) {
    const char c = json[at];
    if (open == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '"') {
      at = end_of_string(json, at);
      continue;
    }
    if (c == '{' || c == '[') ++open;
    if (c == '}' || c == ']') --open;
    ++at;
  }
  return at;
}

// The list of owner references as it stands in the object's bytes; empty if there is none.
std::string_view references_of(std::string_view json) {
  CHECK(json.starts_with(kStart));
  for (std::size_t at = kStart.size(); at < json.size() && json[at] == '"';) {
    const std::size_t colon = end_of_string(json, at);
    const std::size_t end = end_of_value(json, colon + 1);
    if (json.substr(at, colon - at) == kReferences) return json.substr(colon + 1, end - colon - 1);
    at = end + 1;  // behind the comma
  }
  return {};
}

}  // namespace

std::vector<bool> blocked_owners(const api::Object& object) {
  std::vector<bool> out(object.meta().owners.size(), false);
  if (out.empty()) return out;
  const Result<api::ParsedJson> references = api::parse_json(references_of(object.bytes()));
  if (!references || !references->value.is_array()) return out;
  const api::JsonArray& list = references->value.get_array();
  for (std::size_t i = 0; i < out.size() && i < list.size(); ++i) {
    const Json* block = api::find(list[i], "blockOwnerDeletion");
    out[i] = block != nullptr && block->is_bool() && block->get_bool();
  }
  return out;
}

bool same_references(const api::Object& a, const api::Object& b) {
  if (a.meta().owners.empty() && b.meta().owners.empty()) return true;
  return references_of(a.bytes()) == references_of(b.bytes());
}

}  // namespace muster::controllers
