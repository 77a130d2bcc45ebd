#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/tables/column.h"

// Inside this room: the texts Tables are put together from.
namespace muster::api::tables {

// "name":"value"
void append_member(std::string_view name, std::string_view value, std::string& out);
// The column definitions of a Table.
void append_columns(std::span<const Column> columns, std::string& out);

}  // namespace muster::api::tables
