#pragma once

#include <cstddef>
#include <cstdint>
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

// The same text, a piece at a time.
class ListText {
 public:
  // `rendering` and `of` outlive it.
  ListText(const Rendering& rendering, const api::ListAnswer& of, Time time)
      : how_(rendering), list_(of), now_(time) {}
  // Appends the next objects, one at least, until it has read and written some `bytes`. False at
  // the end of the list.
  bool write_some(std::size_t bytes, std::string& out);

 private:
  void write_start(std::string& out) const;
  void write_item(const api::Object& object, std::string& out) const;

  const Rendering& how_;
  const api::ListAnswer& list_;
  const Time now_;
  std::size_t next_ = 0;
  bool begun_ = false;
};

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
// … that comes in pieces.
class Indenter {
 public:
  void add(std::string_view json, std::string& out);

 private:
  enum class In : std::uint8_t { Structure, Text, Escape };
  In in_ = In::Structure;
  bool opened_ = false;  // an object or list, of which nothing has come yet
  std::size_t depth_ = 0;
};

}  // namespace muster::server
