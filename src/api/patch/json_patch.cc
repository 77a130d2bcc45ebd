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

// Objects up to this size keep the order of their members when one goes; it costs a shift of all
// that follow. Larger ones fill the gap with their last member, as Go's maps have no order at all.
constexpr std::size_t kOrderedMembersMax = 64;

// Upstream says nothing more than this about an operation that fails.
tl::unexpected<Error> refused() {
  return fail(Reason::Invalid, "the server rejected our request due to an error in our request");
}

using Pointer = std::vector<std::string>;

// RFC 6901; nullopt if the text is no pointer, or one that is longer than any document is deep.
std::optional<Pointer> parse_pointer(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      if (pointer.size() == kJsonDepthMax) return std::nullopt;
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
    if (apply_one(operation)) return {};
    // What ran out says more than that the operation failed.
    if (copied_ > kLimits.copied_bytes)
      return fail(Reason::RequestEntityTooLarge,
                  "unable to complete the copy, the accumulated size increase of copy is {}, "
                  "exceeding the limit {}",
                  copied_, kLimits.copied_bytes);
    if (moves_.left() == 0)
      return fail(Reason::RequestEntityTooLarge,
                  "The JSON patch is too expensive: its operations move more than {} bytes",
                  kLimits.moved_bytes);
    return refused();
  }

  Json finish() { return std::move(document_); }

 private:
  bool apply_one(const Json& operation) {
    const std::string_view op = find_string(operation, "op");
    const std::optional<Pointer> path = pointer_of(operation, "path");
    if (!path) return false;
    if (op == "remove") return remove(*path);
    if (op == "move" || op == "copy") {
      const std::optional<Pointer> from = pointer_of(operation, "from");
      if (!from) return false;
      return op == "move" ? move(*from, *path) : copy(*from, *path);
    }
    const Json* value = find(operation, "value");
    if (value == nullptr) return false;
    if (op == "add") return add(*path, Json(*value, document_.storage()));
    if (op == "replace") return replace(*path, *value);
    return op == "test" && test(*path, *value);
  }

  static std::optional<Pointer> pointer_of(const Json& operation, std::string_view member) {
    const Json* text = find(operation, member);
    if (text == nullptr || !text->is_string()) return std::nullopt;
    return parse_pointer(text->get_string());
  }

  // Without this bound a small patch could nest a document deeper than any stack reaches. A value
  // from the patch is walked once per time it was sent; one that is moved is charged.
  static bool fits(const Pointer& path, const Json& value) {
    return path.size() + depth_of(value) <= kJsonDepthMax;
  }

  bool add(const Pointer& path, Json value) {
    return fits(path, value) && insert(path, std::move(value));
  }

  bool insert(const Pointer& path, Json value) {
    if (path.empty()) {
      document_ = std::move(value);
      return true;
    }
    Json* parent = resolve(document_, path, path.size() - 1);
    if (parent == nullptr) return false;
    if (JsonObject* object = parent->if_object()) {
      object->insert_or_assign(path.back(), std::move(value));
      return true;
    }
    JsonArray* array = parent->if_array();
    if (array == nullptr) return false;
    const auto index = path.back() == "-" ? std::optional(array->size())
                                          : parse_index(path.back(), array->size() + 1);
    if (!index || !charge_shift(array->size() - *index)) return false;
    array->insert(array->begin() + *index, std::move(value));
    return true;
  }

  // What follows an item shifts with it.
  bool charge_shift(std::size_t items) { return moves_.spend(items * sizeof(Json)); }

  bool remove(const Pointer& path) {
    if (path.empty()) return false;
    Json* parent = resolve(document_, path, path.size() - 1);
    if (parent == nullptr || child_of(*parent, path.back()) == nullptr) return false;
    if (JsonObject* object = parent->if_object()) {
      if (object->size() <= kOrderedMembersMax)
        object->stable_erase(object->find(path.back()));
      else
        object->erase(object->find(path.back()));
      return true;
    }
    JsonArray& array = parent->get_array();
    const std::size_t index = *parse_index(path.back(), array.size());
    if (!charge_shift(array.size() - index)) return false;
    array.erase(array.begin() + index);
    return true;
  }

  bool replace(const Pointer& path, const Json& value) {
    Json* target = resolve(document_, path, path.size());
    if (target == nullptr || !fits(path, value)) return false;
    *target = value;
    return true;
  }

  // As upstream's library has it, null is also what a missing member equals. Looks at no more than
  // the value that was sent holds: lists and objects of another size differ at once.
  bool test(const Pointer& path, const Json& value) {
    if (const Json* target = resolve(document_, path, path.size())) return same(*target, value);
    const Json* parent = path.empty() ? nullptr : resolve(document_, path, path.size() - 1);
    return value.is_null() && parent != nullptr && parent->is_object();
  }

  // The value itself moves, nothing is copied. Its parts are counted, for how deep it is decides
  // where it may go.
  bool move(const Pointer& from, const Pointer& path) {
    const bool into_itself =
        from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin());
    Json* source = resolve(document_, from, from.size());
    if (into_itself || source == nullptr) return false;
    if (from == path) return true;
    if (from.empty() || !charge_values(*source) || !fits(path, *source)) return false;
    Json value = std::move(*source);
    return remove(from) && insert(path, std::move(value));
  }

  bool charge_values(const Json& value) {
    if (!moves_.spend(sizeof(Json))) return false;
    if (const JsonArray* items = value.if_array()) {
      for (const Json& item : *items)
        if (!charge_values(item)) return false;
    } else if (const JsonObject* object = value.if_object()) {
      for (const auto& member : *object)
        if (!charge_values(member.value())) return false;
    }
    return true;
  }

  bool copy(const Pointer& from, const Pointer& path) {
    const Json* source = resolve(document_, from, from.size());
    if (source == nullptr) return false;
    copied_ += to_text(*source).size();
    return copied_ <= kLimits.copied_bytes && add(path, Json(*source, document_.storage()));
  }

  Json document_;
  std::size_t copied_ = 0;
  Budget moves_{kLimits.moved_bytes};
};

}  // namespace

Result<Json> json_patch(Json target, const Json& patch) {
  const JsonArray* operations = patch.if_array();
  if (operations == nullptr)
    return fail(Reason::BadRequest, "error decoding patch: a JSON patch is a list of operations");
  if (operations->size() > kLimits.operations)
    return fail(Reason::RequestEntityTooLarge,
                "The allowed maximum operations in a JSON patch is {}, got {}", kLimits.operations,
                operations->size());
  for (const Json& operation : *operations)
    if (!operation.is_object())
      return fail(Reason::BadRequest, "error decoding patch: an operation is an object");
  Patcher patcher(std::move(target));
  for (const Json& operation : *operations)
    if (auto done = patcher.apply(operation); !done) return fail(std::move(done).error());
  return patcher.finish();
}

}  // namespace muster::api
