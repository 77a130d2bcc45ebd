#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "api/tables/column.h"
#include "api/tables/group_counts.h"

// Inside this room: how each kind fills its row.
namespace muster::api::tables {

// Writes the cells of one row, from left to right.
class Cells {
 public:
  Cells(Time now, std::string& out, const GroupCounter* groups = nullptr)
      : now_(now), out_(out), groups_(groups) {}

  void text(std::string_view value);
  void text_or(std::string_view value, std::string_view if_empty) {
    text(value.empty() ? if_empty : value);
  }
  void number(std::int64_t value);
  void boolean(bool value);
  // How long ago: "5m", or "<unknown>" without a time.
  void age(std::optional<Time> since) { text(age_text(since)); }
  std::string age_text(std::optional<Time> since) const;
  Time now() const { return now_; }
  const GroupCounter* groups() const { return groups_; }

 private:
  void separate();

  Time now_;
  std::string& out_;
  const GroupCounter* groups_;
  bool first_ = true;
};

struct Printer {
  std::string_view group;
  std::string_view kind;
  std::span<const Column> columns;
  void (*print)(const Object& object, const Json& document, Cells& cells) = nullptr;
  // "[…]", or empty for none.
  std::string_view (*conditions)(const Json& document) = nullptr;
};

std::span<const Printer> access_printers();
std::span<const Printer> apps_printers();
std::span<const Printer> batch_printers();
std::span<const Printer> core_printers();
std::span<const Printer> network_printers();
std::span<const Printer> node_printers();
std::span<const Printer> pod_printers();
std::span<const Printer> scheduling_printers();
std::span<const Printer> storage_printers();

inline constexpr Column kName = {
    .name = "Name", .format = "name", .description = "Name of the object."};
inline constexpr Column kAge = {.name = "Age", .description = "Time since the object was created."};

// Reads that never throw; a missing member reads as null, "" or nothing.
const Json& part(const Json& value, std::string_view member);
const JsonArray& list(const Json& value, std::string_view member);
std::int64_t integer(const Json& value, std::string_view member, std::int64_t if_missing = 0);
bool truth(const Json& value, std::string_view member);
bool is_set(const Json& value, std::string_view member);
std::optional<Time> time(const Json& value, std::string_view member);
// The condition of `type` in `status`, or null.
const Json* condition(const Json& status, std::string_view type);
bool condition_is_true(const Json& status, std::string_view type);
// "a,b": the names and images of a pod spec's containers, and a label selector as text.
std::string joined(const JsonArray& objects, std::string_view member);
std::string selector_text(const Json* selector);
// "a=b,c=d", or "<none>".
std::string labels_text(const Json& labels);

}  // namespace muster::api::tables
