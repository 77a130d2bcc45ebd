#pragma once

#include <string>
#include <string_view>

#include "api/request.h"
#include "api/tables/table.h"
#include "base/time.h"
#include "server/http/negotiate.h"

// Objects and lists as the texts clients read, appended to one buffer without a document in
// between.
namespace muster::server {

// How to write objects of one kind for one client.
struct Rendering {
  const api::Kind* kind = nullptr;  // of the endpoint: what lists are lists of
  std::string version;              // of the endpoint
  Form form = Form::Full;
  std::string_view meta_version = "v1";  // of a Table
  // What a Table's rows carry besides their cells.
  api::IncludeObject include_object = api::IncludeObject::Metadata;
  const api::GroupCounter* groups = nullptr;  // for what Tables say about groups
};

// Texts without a line end. `now` is for ages in Tables.
void write_object(const Rendering& how, const api::Object& object, api::Revision revision, Time now,
                  std::string& out);
void write_list(const Rendering& how, const api::ListAnswer& list, Time now, std::string& out);

// Watch events: {"type":…,"object":…}, each with its line end.
// The column definitions of a Table go with a stream's first event only.
struct EventOptions {
  bool columns = false;
};
void write_event(const Rendering& how, std::string_view type, const api::Object& object,
                 api::Revision revision, Time now, EventOptions options, std::string& out);
void write_bookmark(const Rendering& how, const api::Bookmark& bookmark, EventOptions options,
                    std::string& out);

// The same JSON with line ends and two blanks per level, for humans.
std::string indent_json(std::string_view json);

}  // namespace muster::server
