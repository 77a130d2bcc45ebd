#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_bounds.h"
#include "api/patch/patch.h"

namespace muster::api {
namespace {

constexpr std::size_t kOperationsMax = 10'000;
// A copy may double a document; this bounds what all copies of a patch may add.
constexpr std::size_t kCopiedBytesMax = std::size_t{3} << 20U;

// Upstream says nothing more than this about an operation that fails.
tl::unexpected<Error> refused() {
  return fail(Reason::Invalid, "the server rejected our request due to an error in our request");
}

using Pointer = std::vector<std::string>;

// RFC 6901; nullopt if the text is no pointer.
std::optional<Pointer> parse_pointer(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      pointer.emplace_back();
    } else if (text[i] != '~') {
      pointer.back() += text[i];
    } else {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) return std::nullopt;
      pointer.back() += text[i] == '0' ? '~' : '/';
    }
  }
  return pointer;
}

// An index below `end`, written without leading zeros.
std::optional<std::size_t> parse_index(std::string_view text, std::size_t end) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || last != text.data() + text.size() || index >= end)
    return std::nullopt;
  return index;
}

Json* child_of(Json& value, std::string_view token) {
  if (JsonObject* object = value.if_object()) return object->if_contains(token);
  JsonArray* array = value.if_array();
  if (array == nullptr) return nullptr;
  const auto index = parse_index(token, array->size());
  return index ? &(*array)[*index] : nullptr;
}

// The value after the first `length` steps; null if there is none.
Json* resolve(Json& document, const Pointer& pointer, std::size_t length) {
  Json* at = &document;
  for (std::size_t i = 0; i < length && at != nullptr; ++i) at = child_of(*at, pointer[i]);
  return at;
}

bool same_number(const Json& a, const Json& b) {
  if (a.is_double() || b.is_double()) return a.to_number<double>() == b.to_number<double>();
  return a == b;
}

// Equality in the sense of RFC 6902: numbers by value, members in any order.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return same_number(a, b);
  if (a.kind() != b.kind()) return false;
  if (const JsonArray* array = a.if_array()) {
    const JsonArray& other = b.get_array();
    if (array->size() != other.size()) return false;
    for (std::size_t i = 0; i < array->size(); ++i)
      if (!same((*array)[i], other[i])) return false;
    return true;
  }
  if (const JsonObject* object = a.if_object()) {
    const JsonObject& other = b.get_object();
    if (object->size() != other.size()) return false;
    for (const auto& member : *object) {
      const Json* counterpart = other.if_contains(member.key());
      if (counterpart == nullptr || !same(member.value(), *counterpart)) return false;
    }
    return true;
  }
  return a == b;
}

class Patcher {
 public:
  explicit Patcher(Json document) : document_(std::move(document)) {}

  Result<void> apply(const Json& operation) {
    const std::string_view op = find_string(operation, "op");
    const std::optional<Pointer> path = pointer_of(operation, "path");
    if (!path) return refused();
    if (op == "remove") return remove(*path) ? Result<void>() : refused();
    if (op == "move" || op == "copy") {
      const std::optional<Pointer> from = pointer_of(operation, "from");
      if (!from) return refused();
      return op == "move" ? move(*from, *path) : copy(*from, *path);
    }
    const Json* value = find(operation, "value");
    if (value == nullptr) return refused();
    bool done = false;
    if (op == "add")
      done = add(*path, *value);
    else if (op == "replace")
      done = replace(*path, *value);
    else if (op == "test")
      done = test(*path, *value);
    return done ? Result<void>() : refused();
  }

  Json take() { return std::move(document_); }

 private:
  static std::optional<Pointer> pointer_of(const Json& operation, std::string_view member) {
    const Json* text = find(operation, member);
    if (text == nullptr || !text->is_string()) return std::nullopt;
    return parse_pointer(text->get_string());
  }

  // Without this bound a small patch could nest a document deeper than any stack reaches.
  static bool fits(const Pointer& path, const Json& value) {
    return path.size() + depth_of(value) <= kJsonDepthMax;
  }

  bool add(const Pointer& path, Json value) {
    if (!fits(path, value)) return false;
    if (path.empty()) {
      document_ = std::move(value);
      return true;
    }
    Json* parent = resolve(document_, path, path.size() - 1);
    if (parent == nullptr) return false;
    if (JsonObject* object = parent->if_object()) {
      (*object)[path.back()] = std::move(value);
      return true;
    }
    JsonArray* array = parent->if_array();
    if (array == nullptr) return false;
    const auto index = path.back() == "-" ? std::optional(array->size())
                                          : parse_index(path.back(), array->size() + 1);
    if (!index) return false;
    array->insert(array->begin() + *index, std::move(value));
    return true;
  }

  bool remove(const Pointer& path) {
    if (path.empty()) return false;
    Json* parent = resolve(document_, path, path.size() - 1);
    if (parent == nullptr || child_of(*parent, path.back()) == nullptr) return false;
    if (JsonObject* object = parent->if_object()) {
      object->stable_erase(object->find(path.back()));
    } else {
      JsonArray& array = parent->get_array();
      array.erase(array.begin() + *parse_index(path.back(), array.size()));
    }
    return true;
  }

  bool replace(const Pointer& path, const Json& value) {
    Json* target = resolve(document_, path, path.size());
    if (target == nullptr || !fits(path, value)) return false;
    *target = value;
    return true;
  }

  // As upstream's library has it, null is also what a missing member equals.
  bool test(const Pointer& path, const Json& value) {
    if (const Json* target = resolve(document_, path, path.size())) return same(*target, value);
    const Json* parent = resolve(document_, path, path.size() - 1);
    return value.is_null() && parent != nullptr && parent->is_object();
  }

  Result<void> move(const Pointer& from, const Pointer& path) {
    const bool into_itself =
        from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin());
    const Json* source = resolve(document_, from, from.size());
    if (into_itself || source == nullptr) return refused();
    if (from == path) return {};
    Json value = *source;
    if (!remove(from) || !add(path, std::move(value))) return refused();
    return {};
  }

  Result<void> copy(const Pointer& from, const Pointer& path) {
    const Json* source = resolve(document_, from, from.size());
    if (source == nullptr) return refused();
    copied_bytes_ += to_text(*source).size();
    if (copied_bytes_ > kCopiedBytesMax)
      return fail(Reason::RequestEntityTooLarge,
                  "unable to complete the copy, the accumulated size increase of copy is {}, "
                  "exceeding the limit {}",
                  copied_bytes_, kCopiedBytesMax);
    if (!add(path, Json(*source))) return refused();
    return {};
  }

  Json document_;
  std::size_t copied_bytes_ = 0;
};

}  // namespace

Result<Json> json_patch(Json target, const Json& patch) {
  const JsonArray* operations = patch.if_array();
  if (operations == nullptr)
    return fail(Reason::BadRequest, "error decoding patch: a JSON patch is a list of operations");
  if (operations->size() > kOperationsMax)
    return fail(Reason::RequestEntityTooLarge,
                "The allowed maximum operations in a JSON patch is {}, got {}", kOperationsMax,
                operations->size());
  for (const Json& operation : *operations)
    if (!operation.is_object())
      return fail(Reason::BadRequest, "error decoding patch: an operation is an object");
  Patcher patcher(std::move(target));
  for (const Json& operation : *operations)
    if (auto done = patcher.apply(operation); !done) return fail(std::move(done).error());
  return patcher.take();
}

}  // namespace muster::api
