#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"

namespace muster::loader {

// Latencies of one thing, in milliseconds.
class Latencies {
 public:
  void add(double ms) { values_.push_back(ms); }
  bool empty() const { return values_.empty(); }
  // The value that a share of `part` (0…1) does not exceed; 0 without values.
  double at(double part) const;

 private:
  mutable std::vector<double> values_;
  mutable bool sorted_ = false;
};

// What a value should be, from the design's table of speeds.
struct Goal {
  enum class Side { AtLeast, AtMost };
  Side side = Side::AtLeast;
  double value = 0;
  bool met_by(double measured) const {
    return side == Side::AtLeast ? measured >= value : measured <= value;
  }
  std::string text() const;
};

// What one mode found, as names and numbers in the order they are told.
class Report {
 public:
  explicit Report(std::string mode) : mode_(std::move(mode)) {}

  void add(std::string name, double value, std::string unit) {
    rows_.push_back({std::move(name), value, std::move(unit)});
  }
  // Says what the value of that name should be, if the mode tells one.
  void expect(const std::string& name, Goal goal);
  // p50, p99 and the maximum.
  void add(const std::string& name, const Latencies& latencies);
  // What must not happen happened: the run counts for nothing.
  void fail(std::string sentence) { failures_.push_back(std::move(sentence)); }

  bool failed() const { return !failures_.empty(); }
  std::string text() const;
  std::string markdown() const;
  api::Json json() const;

 private:
  struct Row {
    std::string name;
    double value;
    std::string unit;
    std::optional<Goal> goal = {};
  };
  std::string mode_;
  std::vector<Row> rows_;
  std::vector<std::string> failures_;
};

}  // namespace muster::loader
