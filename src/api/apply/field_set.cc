#include "api/apply/field_set.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace muster::api {
namespace {

constexpr std::string_view kItself = ".";

void erase_empty(FieldSet& set) {
  std::erase_if(set.children, [](const auto& child) { return child.second.empty(); });
}

// `[name="c",port=80]` from `{"name":"c","port":80}`.
std::string printed_keys(std::string_view keys_json) {
  const auto keys = parse_json(keys_json);
  if (!keys || !keys->value.is_object()) return "[" + std::string(keys_json) + "]";
  std::string out;
  for (const auto& key : keys->value.get_object()) {
    out += out.empty() ? '[' : ',';
    out += std::string_view(key.key());
    out += '=';
    write_json(key.value(), out);
  }
  return out + "]";
}

// `path` grows and shrinks with the walk: it is copied only for paths that are wanted.
void print_paths(const FieldSet& set, std::size_t paths_max, std::string& path, PrintedPaths& out) {
  if (set.member && ++out.count <= paths_max)
    out.first.push_back(shortened(path, kLimits.path_bytes));
  for (const auto& [element, below] : set.children) {
    const std::size_t length = path.size();
    if (out.count < paths_max) path += printed_element(element);
    print_paths(below, paths_max, path, out);
    path.resize(length);
  }
}

Result<FieldSet> parse_node(const Json& node) {
  const JsonObject* object = node.if_object();
  if (object == nullptr) return fail(Reason::BadRequest, "fieldsV1: expected an object");
  FieldSet out;
  out.member = object->empty();
  for (const auto& member : *object) {
    const std::string_view element = member.key();
    if (element == kItself) {
      out.member = true;
      continue;
    }
    if (!is_path_element(element))
      return fail(Reason::BadRequest, R"(fieldsV1: "{}" is no path element)", element);
    out.children.emplace(element, TRY(parse_node(member.value())));
  }
  return out;
}

}  // namespace

bool is_path_element(std::string_view text) {
  return text.size() >= 2 && text[1] == ':' &&
         std::string_view("fkvi").find(text.front()) != std::string_view::npos;
}

const FieldSet* FieldSet::below(std::string_view element) const {
  const auto found = children.find(element);
  return found == children.end() ? nullptr : &found->second;
}

FieldSet united(FieldSet a, FieldSet b) {
  a.member |= b.member;
  // Whole subtrees change hands; what is left in `b` stands in both.
  a.children.merge(b.children);
  for (auto& [element, below] : b.children) {
    FieldSet& mine = a.children.find(element)->second;
    mine = united(std::move(mine), std::move(below));
  }
  return a;
}

FieldSet common(const FieldSet& a, const FieldSet& b) {
  FieldSet out{.member = a.member && b.member};
  for (const auto& [element, below] : a.children)
    if (const FieldSet* other = b.below(element))
      if (FieldSet both = common(below, *other); !both.empty())
        out.children.emplace(element, std::move(both));
  return out;
}

FieldSet without(FieldSet a, const FieldSet& b) {
  a.member &= !b.member;
  for (auto& [element, below] : a.children)
    if (const FieldSet* other = b.below(element)) below = without(std::move(below), *other);
  erase_empty(a);
  return a;
}

FieldSet without_subtrees(FieldSet a, const FieldSet& b) {
  if (b.member) return {};
  for (auto& [element, below] : a.children)
    if (const FieldSet* other = b.below(element))
      below = without_subtrees(std::move(below), *other);
  erase_empty(a);
  return a;
}

std::string printed_element(std::string_view element) {
  const std::string_view rest = element.substr(2);
  switch (element.front()) {
    case 'f': return "." + std::string(rest);
    case 'k': return printed_keys(rest);
    case 'v': return "[=" + std::string(rest) + "]";
    default: return "[" + std::string(rest) + "]";
  }
}

PrintedPaths printed_paths(const FieldSet& set, std::size_t paths_max) {
  PrintedPaths out;
  std::string path;
  print_paths(set, paths_max, path, out);
  return out;
}

Json to_fields_v1(const FieldSet& set) {
  JsonObject out;
  if (set.member && !set.children.empty()) out.emplace(kItself, JsonObject());
  for (const auto& [element, below] : set.children) out.emplace(element, to_fields_v1(below));
  return out;
}

Result<FieldSet> parse_fields_v1(const Json& fields) {
  FieldSet out = TRY(parse_node(fields));
  out.member = false;
  return out;
}

FieldSet field_set(const std::vector<std::string>& dotted_paths) {
  FieldSet out;
  for (std::string_view rest : dotted_paths) {
    FieldSet* at = &out;
    while (!rest.empty()) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      at = &at->children["f:" + std::string(rest.substr(0, dot))];
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    at->member = true;
  }
  return out;
}

}  // namespace muster::api
