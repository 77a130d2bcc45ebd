#include "api/tables/table.h"

#include <fmt/format.h>

#include <iterator>

#include "api/conversion.h"
#include "api/tables/columns.h"
#include "api/tables/printer.h"
#include "base/check.h"

namespace muster::api {
namespace {

constexpr std::string_view kStoredStart = "{\"metadata\":{";
constexpr std::string_view kTableStart = R"({"kind":"Table","apiVersion":"meta.k8s.io/)";
constexpr std::string_view kPartialStart =
    R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)";

void print_by_default(const Object& object, const Json&, tables::Cells& cells) {
  cells.text(object.meta().name);
  cells.text(object.meta().creation_time ? format_time(*object.meta().creation_time) : "<unknown>");
}

const tables::Printer& printer_of(const Kind& kind) {
  static constexpr Column kDefaultColumns[] = {
      tables::kName,
      {.name = "Created At", .type = "date", .description = "When the object was created."}};
  static constexpr tables::Printer kDefault = {"", "", kDefaultColumns, print_by_default};
  for (const auto printers :
       {tables::pod_printers(), tables::node_printers(), tables::core_printers(),
        tables::scheduling_printers(), tables::batch_printers(), tables::apps_printers(),
        tables::network_printers(), tables::storage_printers(), tables::access_printers()})
    for (const tables::Printer& printer : printers)
      if (printer.kind == kind.kind && printer.group == kind.group) return printer;
  return kDefault;
}

using tables::append_member;

void append_head(const ListHead& head, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"({{"resourceVersion":"{}")", head.revision.value);
  if (!head.continue_token.empty()) {
    out += ',';
    append_member("continue", head.continue_token, out);
  }
  if (head.remaining)
    fmt::format_to(std::back_inserter(out), ",\"remainingItemCount\":{}", *head.remaining);
  out += '}';
}

// The members of stored metadata, without the braces around them.
std::string_view metadata_members(std::string_view bytes) {
  CHECK(bytes.starts_with(kStoredStart));
  bytes.remove_prefix(kStoredStart.size());
  int depth = 1;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    switch (bytes[i]) {
      case '"':
        for (++i; i < bytes.size() && bytes[i] != '"'; ++i)
          if (bytes[i] == '\\') ++i;
        break;
      case '{': ++depth; break;
      case '}':
        if (--depth == 0) return bytes.substr(0, i);
        break;
      default: break;
    }
  }
  CHECK_THAT(false, "stored metadata without an end: {}", bytes.substr(0, 80));
  return {};
}

void append_row_object(const Kind& kind, const TableRow& row, const TableOptions& options,
                       std::string& out) {
  switch (options.include) {
    case IncludeObject::None: out += "null"; break;
    case IncludeObject::Metadata:
      append_partial_metadata(*row.object, row.revision, out, options.meta_version);
      break;
    case IncludeObject::Object:
      encode_as(kind, *row.object, row.revision, {.version = options.version}, out);
      break;
  }
}

void append_row(const Kind& kind, const tables::Printer& printer, const TableRow& row,
                const TableOptions& options, std::string& out) {
  const Json document = row.object->document();
  out += R"({"cells":[)";
  tables::Cells cells(options.now, out, options.groups);
  printer.print(*row.object, document, cells);
  out += ']';
  if (printer.conditions != nullptr)
    if (const std::string_view conditions = printer.conditions(document); !conditions.empty()) {
      out += R"(,"conditions":)";
      out += conditions;
    }
  out += R"(,"object":)";
  append_row_object(kind, row, options, out);
  out += '}';
}

void append_table_start(const tables::Printer& printer, const ListHead& head,
                        const TableOptions& options, std::string& out) {
  out.append(kTableStart).append(options.meta_version).append(R"(","metadata":)");
  append_head(head, out);
  out += R"(,"columnDefinitions":)";
  if (options.with_columns)
    tables::append_columns(printer.columns, out);
  else
    out += "null";
  out += R"(,"rows":[)";
}

}  // namespace

void append_table_start(const Kind& kind, const ListHead& head, const TableOptions& options,
                        std::string& out) {
  append_table_start(printer_of(kind), head, options, out);
}

void append_table_row(const Kind& kind, const TableRow& row, const TableOptions& options,
                      std::string& out) {
  append_row(kind, printer_of(kind), row, options, out);
}

std::span<const Column> columns(const Kind& kind) { return printer_of(kind).columns; }

void append_cells(const Object& object, Time now, std::string& out) {
  out += '[';
  tables::Cells cells(now, out);
  printer_of(object.kind()).print(object, object.document(), cells);
  out += ']';
}

void append_table(const Kind& kind, std::span<const TableRow> rows, const ListHead& head,
                  const TableOptions& options, std::string& out) {
  const tables::Printer& printer = printer_of(kind);
  append_table_start(printer, head, options, out);
  for (const TableRow& row : rows) {
    if (&row != rows.data()) out += ',';
    append_row(kind, printer, row, options, out);
  }
  out += kListEnd;
}

void append_partial_metadata(const Object& object, Revision revision, std::string& out,
                             std::string_view meta_version) {
  out.append(kPartialStart).append(meta_version).append(R"(","metadata":{)");
  fmt::format_to(std::back_inserter(out), R"("resourceVersion":"{}",)", revision.value);
  out += metadata_members(object.bytes());
  out += "}}";
}

void append_partial_metadata_list_start(const ListHead& head, std::string& out) {
  out += R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)";
  append_head(head, out);
  out += R"(,"items":[)";
}

void append_partial_metadata_list(std::span<const TableRow> rows, const ListHead& head,
                                  std::string& out) {
  append_partial_metadata_list_start(head, out);
  for (const TableRow& row : rows) {
    if (&row != rows.data()) out += ',';
    append_partial_metadata(*row.object, row.revision, out);
  }
  out += kListEnd;
}

void append_partial_metadata(const Bookmark& bookmark, std::string& out,
                             std::string_view meta_version) {
  out.append(kPartialStart).append(meta_version).append(R"(","metadata":{)");
  fmt::format_to(std::back_inserter(out), R"("resourceVersion":"{}")", bookmark.revision.value);
  if (bookmark.initial_events_end) out += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  out += "}}";
}

void append_table(const Kind& kind, const Bookmark& bookmark, const TableOptions& options,
                  std::string& out) {
  append_table_start(printer_of(kind), {.revision = bookmark.revision}, options, out);
  out += R"({"cells":[],"object":)";
  append_partial_metadata(bookmark, out, options.meta_version);
  out += "}]}";
}

}  // namespace muster::api
