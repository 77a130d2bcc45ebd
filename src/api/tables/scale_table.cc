#include "api/tables/scale_table.h"

#include "api/tables/columns.h"
#include "api/tables/printer.h"

namespace muster::api {
namespace {

constexpr Column kColumns[] = {
    tables::kName,
    {.name = "Desired", .type = "integer", .description = "Pods wanted."},
    {.name = "Available", .type = "integer", .description = "Pods there are."},
    tables::kAge,
};

void append_row_object(const Json& scale, const TableOptions& options, std::string& out) {
  if (options.include == IncludeObject::None) {
    out += "null";
  } else if (options.include == IncludeObject::Object) {
    write_json(scale, out);
  } else {
    out.append(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)")
        .append(options.meta_version)
        .append(R"(","metadata":)");
    write_json(tables::part(scale, "metadata"), out);
    out += '}';
  }
}

}  // namespace

void append_scale_table(const Json& scale, const TableOptions& options, std::string& out) {
  const Json& metadata = tables::part(scale, "metadata");
  out.append(R"({"kind":"Table","apiVersion":"meta.k8s.io/)")
      .append(options.meta_version)
      .append(R"(","metadata":{"resourceVersion":)");
  write_string(find_string(metadata, "resourceVersion"), out);
  out += R"(},"columnDefinitions":)";
  tables::append_columns(kColumns, out);
  out += R"(,"rows":[{"cells":[)";
  tables::Cells cells(options.now, out);
  cells.text(find_string(metadata, "name"));
  cells.number(tables::integer(tables::part(scale, "spec"), "replicas"));
  cells.number(tables::integer(tables::part(scale, "status"), "replicas"));
  cells.age(tables::time(metadata, "creationTimestamp"));
  out += R"(],"object":)";
  append_row_object(scale, options, out);
  out += "}]}";
}

}  // namespace muster::api
