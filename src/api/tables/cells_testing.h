#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "api/tables/table.h"

// Shorthands of this room's tests.
namespace muster::api {

inline const Time kRowsAt = *parse_time("2026-01-01T01:00:00Z");

inline Json read_document(std::string_view text) {
  Result<ParsedJson> parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? std::move(parsed->value) : Json();
}

// The row of an object named "x", made an hour ago.
inline std::string row(std::string_view group, std::string_view name, std::string_view members,
                       std::string_view metadata = "") {
  const Kind* kind = find_kind(group, name);
  EXPECT_NE(kind, nullptr) << name;
  if (kind == nullptr) return "";
  const auto object = Object::make(
      *kind,
      read_document(fmt::format(
          R"({{"metadata":{{"name":"x","creationTimestamp":"2026-01-01T00:00:00Z"{}}}{}{}}})",
          metadata, members.empty() ? "" : ",", members)));
  std::string out;
  append_cells(*object, kRowsAt, out);
  return out;
}

struct CellsCase {
  std::string_view group;
  std::string_view kind;
  std::string members;
  std::string want;
  std::string metadata = {};
};
inline void check(std::span<const CellsCase> cases) {
  for (const CellsCase& c : cases)
    EXPECT_EQ(row(c.group, c.kind, c.members, c.metadata), c.want) << c.kind << " " << c.members;
}

inline const std::string kDeleting = R"(,"deletionTimestamp":"2026-01-01T00:59:00Z")";
}  // namespace muster::api
