#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/values/string_pairs.h"
#include "base/result.h"

namespace muster::api {

enum class LabelOperator : std::uint8_t {
  In,
  NotIn,
  Exists,
  DoesNotExist,
  Equals,        // one value
  DoubleEquals,  // the same, written "=="
  NotEquals,     // one value
  GreaterThan,   // one value, an integer
  LessThan,
};

// The operator that metav1.LabelSelector and node selectors call by this name ("In", "Gt"); none if
// unknown.
std::optional<LabelOperator> label_operator_named(std::string_view name);

// One condition on labels: of a query, of a metav1.LabelSelector, of a node selector term.
class LabelRequirement {
 public:
  // BadRequest, in the words of upstream, unless key and values are well-formed and the number of
  // values fits the operator.
  static Result<LabelRequirement> make(std::string key, LabelOperator op,
                                       std::vector<std::string> values);

  bool matches(const StringPairs& labels) const;
  std::string text() const;

  const std::string& key() const { return key_; }
  LabelOperator op() const { return op_; }
  const std::vector<std::string>& values() const { return values_; }  // sorted, each once

 private:
  LabelRequirement(std::string key, LabelOperator op, std::vector<std::string> values)
      : key_(std::move(key)), values_(std::move(values)), op_(op) {}

  std::string key_;
  std::vector<std::string> values_;
  std::int64_t bound_ = 0;  // of GreaterThan and LessThan
  LabelOperator op_;
};

// Requirements that must all hold. Without any it selects everything.
class LabelSelector {
 public:
  LabelSelector() = default;
  // Kept in the order of keys, as upstream prints them.
  explicit LabelSelector(std::vector<LabelRequirement> requirements);
  // Selects nothing: what a missing metav1.LabelSelector means.
  static LabelSelector nothing();
  // The syntax of a query: "app=web,tier in (a,b),!old". BadRequest on bad syntax.
  static Result<LabelSelector> parse(std::string_view text);

  bool matches(const StringPairs& labels) const;
  bool selects_everything() const { return !nothing_ && requirements_.empty(); }
  bool selects_nothing() const { return nothing_; }
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }
  std::string text() const;

 private:
  std::vector<LabelRequirement> requirements_;
  bool nothing_ = false;
};

}  // namespace muster::api
