#include "api/tables/columns.h"

#include <fmt/format.h>

#include <iterator>

#include "api/json.h"

namespace muster::api::tables {

void append_member(std::string_view name, std::string_view value, std::string& out) {
  out += '"';
  out += name;
  out += "\":";
  write_string(value, out);
}

void append_columns(std::span<const Column> columns, std::string& out) {
  out += '[';
  for (const Column& column : columns) {
    if (&column != columns.data()) out += ',';
    out += '{';
    append_member("name", column.name, out);
    out += ',';
    append_member("type", column.type, out);
    out += ',';
    append_member("format", column.format, out);
    out += ',';
    append_member("description", column.description, out);
    fmt::format_to(std::back_inserter(out), ",\"priority\":{}}}", column.priority);
  }
  out += ']';
}

}  // namespace muster::api::tables
