#include "api/apply/typed.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/apply/value_type.h"
#include "api/budget.h"

namespace muster::api {
namespace {

using schema::Message;

// Where a check is: path elements on the stack, printed only if something is wrong.
struct ElementPath {
  const ElementPath* up = nullptr;
  const std::string* element = nullptr;  // null at the root

  std::string text() const {
    if (up == nullptr) return "";
    std::string out = up->text();
    if (out.size() <= kLimits.path_bytes)
      out += shortened(printed_element(*element), kLimits.path_bytes);
    return out;
  }
};

Result<void> check(const Type& type, const Json& value, const ElementPath& path);

Result<void> check_items(const Type& list, const Json& value, const ElementPath& path) {
  if (!value.is_array()) return {};
  std::set<std::string> seen;
  std::size_t index = 0;
  for (const Json& item : value.get_array()) {
    const std::string element = item_element(list, item);
    if (element.empty())
      return fail(Reason::BadRequest,
                  "{}: element {}: associative list with keys has an element that omits key field "
                  "\"{}\" (and doesn't have default value)",
                  path.text(), index, missing_key(list, item));
    if (!seen.insert(element).second)
      return fail(Reason::BadRequest, "{}: duplicate entries for key {}", path.text(),
                  shortened(printed_element(element)));
    TRY(check(item_type(list), item, {.up = &path, .element = &element}));
    ++index;
  }
  return {};
}

Result<void> check(const Type& type, const Json& value, const ElementPath& path) {
  if (is_list(type)) return check_items(type, value, path);
  Result<void> outcome;
  each_part(type, value, Extent::Written,
            [&](const std::string& element, const Type& child_type, const Json& child) {
              if (outcome && child_type.form != Form::Leaf)
                outcome = check(child_type, child, {.up = &path, .element = &element});
            });
  return outcome;
}

FieldSet fields(const Type& type, const Json& value) {
  FieldSet out;
  if (type.form == Form::Leaf) {
    out.member = true;
    return out;
  }
  each_part(type, value, Extent::Written,
            [&](std::string element, const Type& child_type, const Json& child) {
              FieldSet below = fields(child_type, child);
              const bool empty_struct = child.is_object() && child.get_object().empty();
              if (is_list(type) || empty_struct) below.member = true;
              if (!below.empty())
                out.children.insert_or_assign(std::move(element), std::move(below));
            });
  return out;
}

}  // namespace

Result<void> check_lists(const Message& message, const Json& document) {
  return check(root_type(message), document, {});
}

FieldSet fields_of(const Message& message, const Json& document) {
  return fields(root_type(message), document);
}

}  // namespace muster::api
