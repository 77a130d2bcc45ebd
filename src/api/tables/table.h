#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/tables/column.h"
#include "api/tables/group_counts.h"
#include "base/time.h"

// The forms of objects that are made for reading: the Table that kubectl prints, and metadata
// alone. All append JSON text.
namespace muster::api {

// What `kubectl get` shows for a kind; name and creation time unless the kind has special columns.
std::span<const Column> columns(const Kind& kind);

// The cells of one row, "[…]", one per column. Ages are counted from `now`.
void append_cells(const Object& object, Time now, std::string& out);

enum class IncludeObject : std::uint8_t { Metadata, Object, None };

struct TableOptions {
  Time now;
  IncludeObject include = IncludeObject::Metadata;
  bool with_columns = true;              // false for every event of a watch but the first
  std::string_view version = {};         // of whole objects; empty = the stored one
  std::string_view meta_version = "v1";  // of meta.k8s.io: of the Table itself and of metadata
  const GroupCounter* groups = nullptr;  // null: nobody knows
};

// An object as of a revision, which may be later than its own: a deletion's.
struct TableRow {
  const Object* object = nullptr;
  Revision revision;
};

// The head of a list.
struct ListHead {
  Revision revision;
  std::string_view continue_token = {};
  std::optional<std::int64_t> remaining = std::nullopt;
};

// A list, one object, or the object of a watch event: they differ in head and number of rows.
// The same in pieces: a start, rows with a comma between them, and kListEnd.
inline constexpr std::string_view kListEnd = "]}";
void append_table_start(const Kind& kind, const ListHead& head, const TableOptions& options,
                        std::string& out);
void append_table_row(const Kind& kind, const TableRow& row, const TableOptions& options,
                      std::string& out);
void append_table(const Kind& kind, std::span<const TableRow> rows, const ListHead& head,
                  const TableOptions& options, std::string& out);

// PartialObjectMetadata, and a list of them.
void append_partial_metadata(const Object& object, Revision revision, std::string& out,
                             std::string_view meta_version = "v1");
// The start of a list, to be followed by objects with a comma between them, and kListEnd.
void append_partial_metadata_list_start(const ListHead& head, std::string& out);
void append_partial_metadata_list(std::span<const TableRow> rows, const ListHead& head,
                                  std::string& out);

// The object of a BOOKMARK event in both forms.
struct Bookmark {
  Revision revision;
  bool initial_events_end = false;
};
void append_partial_metadata(const Bookmark& bookmark, std::string& out,
                             std::string_view meta_version = "v1");
void append_table(const Kind& kind, const Bookmark& bookmark, const TableOptions& options,
                  std::string& out);

}  // namespace muster::api
