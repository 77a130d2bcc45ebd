#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace muster::loader {

namespace {

// "4,000", "0.35": as many digits as are worth reading.
std::string number_text(double value) {
  if (std::abs(value) < 100) return fmt::format("{:.2f}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

}  // namespace

std::string Goal::text() const {
  return fmt::format("{} {}", side == Side::AtLeast ? "≥" : "≤", number_text(value));
}

double Latencies::at(double part) const {
  if (values_.empty()) return 0;
  if (!sorted_) std::ranges::sort(values_);
  sorted_ = true;
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values_.size())));
  return values_[std::clamp<std::size_t>(rank, 1, values_.size()) - 1];
}

void Report::add(const std::string& name, const Latencies& latencies) {
  if (latencies.empty()) return;
  add(name + " p50", latencies.at(0.5), "ms");
  add(name + " p99", latencies.at(0.99), "ms");
  add(name + " max", latencies.at(1), "ms");
}

void Report::expect(const std::string& name, Goal goal) {
  for (Row& row : rows_)
    if (row.name == name) row.goal = goal;
}

std::string Report::text() const {
  std::string out = fmt::format("{}\n", mode_);
  for (const Row& row : rows_) {
    fmt::format_to(std::back_inserter(out), "  {:<46} {:>12} {:<4}", row.name,
                   number_text(row.value), row.unit);
    if (row.goal)
      fmt::format_to(std::back_inserter(out), " goal {}: {}", row.goal->text(),
                     row.goal->met_by(row.value) ? "met" : "MISSED");
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  for (const std::string& failure : failures_)
    fmt::format_to(std::back_inserter(out), "  FAILED: {}\n", failure);
  return out;
}

std::string Report::markdown() const {
  std::string out = fmt::format("| **{}** | | |\n", mode_);
  for (const Row& row : rows_)
    fmt::format_to(std::back_inserter(out), "| {} | {}{}{} | {} |\n", row.name,
                   number_text(row.value), row.unit.empty() ? "" : " ", row.unit,
                   row.goal ? fmt::format("{}, {}", row.goal->text(),
                                          row.goal->met_by(row.value) ? "met" : "**missed**")
                            : std::string());
  for (const std::string& failure : failures_)
    fmt::format_to(std::back_inserter(out), "| **failed** | {} | |\n", failure);
  return out;
}

api::Json Report::json() const {
  api::JsonObject values;
  for (const Row& row : rows_)
    values[row.name] = api::JsonObject{{"value", row.value}, {"unit", row.unit}};
  api::JsonArray failures;
  for (const std::string& failure : failures_) failures.emplace_back(failure);
  return api::JsonObject{
      {"mode", mode_}, {"values", std::move(values)}, {"failures", std::move(failures)}};
}

}  // namespace muster::loader
