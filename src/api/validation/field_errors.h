#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/budget.h"
#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/values/names.h"
#include "api/values/quantity.h"
#include "base/error.h"

namespace muster::api {

// Where in a document a rule looks: spec.containers[0].resources.limits[cpu]. A chain of steps on
// the stack, written out only when something is wrong, so a valid object costs no text. A step
// refers to the one before it, which must outlive it; so steps start only from named paths.
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

// A value to be shown in a message: strings quoted as Go does, numbers and booleans bare,
// structures as JSON. Refers to the value, so it must not outlive the call it is an argument of;
// the text is made only for an error that is kept, and is cut to what a message may hold.
class ShownValue {
 public:
  ShownValue(std::string_view value) : value_(value) {}
  ShownValue(const char* value) : ShownValue(std::string_view(value)) {}
  ShownValue(const std::string& value) : ShownValue(std::string_view(value)) {}
  ShownValue(std::int64_t value) : value_(value) {}
  ShownValue(const Quantity& value) : value_(&value) {}
  ShownValue(const Json& value) : value_(&value) {}
  ShownValue(bool value) = delete;  // would otherwise be a number
  static ShownValue null();

  std::string text() const;

 private:
  std::variant<std::string_view, std::int64_t, const Quantity*, const Json*> value_;
};

// Everything that is wrong with an object, in the order found. All errors are counted; the texts
// are kept of the first ones only (see Limits), so that no object makes an answer much larger than
// itself.
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

  // The same error again, `times` times: for rules that would otherwise compare all with all.
  void repeat_last(std::size_t times);

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // If there were too many, the last one says how many more.
  std::vector<Cause> causes() const;
  // "field: message" for one error, "[a, b]" for several.
  std::string text() const;

 private:
  // Whether the text of one more error is wanted. Counts the error in any case.
  bool counts();
  void add(std::string_view type, const FieldPath& path, std::string message,
           std::string_view detail);
  void add_cause(Cause cause);

  std::vector<Cause> causes_;
  std::size_t size_ = 0;
  Budget bytes_{kLimits.cause_bytes};
};

// The 422 a client gets: `Pod "x" is invalid: spec.containers: Required value`.
Error invalid_object(const Kind& kind, std::string_view name, const FieldErrors& errors);

}  // namespace muster::api
