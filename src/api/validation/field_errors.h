#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/values/names.h"
#include "api/values/quantity.h"
#include "base/error.h"

namespace muster::api {

// Where in a document a rule looks: spec.containers[0].resources.limits[cpu]. A chain of steps on
// the stack, written out only when something is wrong, so a valid object costs no text. A step
// refers to the one before it, which must outlive it; hence steps start only from named paths.
class FieldPath {
 public:
  explicit FieldPath(std::string_view name) : name_(name) {}  // may hold dots: "spec.template"

  FieldPath child(std::string_view name) const& { return {this, Step::Child, name, 0}; }
  FieldPath key(std::string_view name) const& { return {this, Step::Key, name, 0}; }
  FieldPath index(std::size_t at) const& { return {this, Step::Index, {}, at}; }
  FieldPath child(std::string_view) && = delete;
  FieldPath key(std::string_view) && = delete;
  FieldPath index(std::size_t) && = delete;

  std::string text() const;

 private:
  enum class Step : std::uint8_t { Child, Key, Index };
  FieldPath(const FieldPath* parent, Step step, std::string_view name, std::size_t at)
      : parent_(parent), name_(name), at_(at), step_(step) {}

  const FieldPath* parent_ = nullptr;
  std::string_view name_;
  std::size_t at_ = 0;
  Step step_ = Step::Child;
};

// A value as it stands in a message: strings quoted as Go does, numbers and booleans bare,
// structures as JSON.
class ShownValue {
 public:
  ShownValue(std::string_view value);
  ShownValue(const char* value) : ShownValue(std::string_view(value)) {}
  ShownValue(const std::string& value) : ShownValue(std::string_view(value)) {}
  ShownValue(std::int64_t value) : text_(std::to_string(value)) {}
  ShownValue(const Quantity& value) : ShownValue(value.text()) {}
  ShownValue(const Json& value);
  ShownValue(bool value) = delete;  // would otherwise be a number
  static ShownValue null() { return ShownValue(Json(nullptr)); }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Everything that is wrong with an object, in the order found.
class FieldErrors {
 public:
  void required(const FieldPath& path, std::string_view detail = {});
  void invalid(const FieldPath& path, const ShownValue& value, std::string_view detail);
  // Without the value, where it would only repeat what the path says.
  void invalid(const FieldPath& path, std::string_view detail);
  // One error per message; none for none.
  void invalid_each(const FieldPath& path, std::string_view value, const Messages& messages);
  void not_supported(const FieldPath& path, const ShownValue& value,
                     std::span<const std::string_view> supported);
  void not_found(const FieldPath& path, const ShownValue& value, std::string_view detail = {});
  void duplicate(const FieldPath& path, const ShownValue& value, std::string_view detail = {});
  void forbidden(const FieldPath& path, std::string_view detail = {});
  void too_long(const FieldPath& path, std::size_t bytes_max);
  void too_many(const FieldPath& path, std::size_t count, std::size_t items_max);
  void append(FieldErrors other);

  bool empty() const { return causes_.empty(); }
  std::size_t size() const { return causes_.size(); }
  const std::vector<Cause>& causes() const { return causes_; }
  // "field: message" for one error, "[a, b]" for several.
  std::string text() const;

 private:
  void add(std::string_view type, const FieldPath& path, std::string message,
           std::string_view detail);

  std::vector<Cause> causes_;
};

// The 422 a client gets: `Pod "x" is invalid: spec.containers: Required value`.
Error invalid_object(const Kind& kind, std::string_view name, const FieldErrors& errors);

}  // namespace muster::api
