#include "server/http/render.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "api/conversion.h"
#include "api/decode.h"
#include "api/json.h"

namespace muster::server {
namespace {

api::ListHead head_of(const api::ListAnswer& list) {
  return {.revision = list.revision,
          .continue_token = list.continue_token,
          .remaining = list.remaining};
}

api::TableOptions table_options(const Rendering& how, Time now, bool with_columns) {
  return {.now = now,
          .include = how.include_object,
          .with_columns = with_columns,
          .version = how.version,
          .meta_version = how.meta_version,
          .groups = how.groups};
}

void write_full_list_start(const Rendering& how, const api::ListAnswer& list, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}")",
                 how.kind->list_kind(), how.kind->api_version(how.version), list.revision.value);
  if (!list.continue_token.empty()) {
    out += R"(,"continue":)";
    api::write_string(list.continue_token, out);
  }
  if (list.remaining)
    fmt::format_to(std::back_inserter(out), R"(,"remainingItemCount":{})", *list.remaining);
  out += R"(},"items":[)";
}

void write_one(const Rendering& how, const api::Object& object, api::Revision revision, Time now,
               bool with_columns, std::string& out) {
  switch (how.form) {
    case Form::Full:
      api::encode_as(*how.kind, object, revision, {.version = how.version, .with_type = true}, out);
      break;
    case Form::Metadata: api::append_partial_metadata(object, revision, out); break;
    case Form::Table: {
      const api::TableRow row{.object = &object, .revision = revision};
      api::append_table(*how.kind, {&row, 1}, {.revision = revision},
                        table_options(how, now, with_columns), out);
      break;
    }
  }
}

}  // namespace

void write_object(const Rendering& how, const api::Object& object, api::Revision revision, Time now,
                  std::string& out) {
  write_one(how, object, revision, now, true, out);
}

void write_list(const Rendering& how, const api::ListAnswer& list, Time now, std::string& out) {
  ListText text(how, list, now);
  while (text.write_some(SIZE_MAX, out)) {
  }
}

bool ListText::write_some(std::size_t bytes, std::string& out) {
  if (!std::exchange(begun_, true)) write_start(out);
  const std::size_t start = out.size();
  std::size_t read = 0;
  while (next_ < list_.items.size()) {
    const api::Object& object = *list_.items[next_];
    if (next_++ > 0) out += ',';
    write_item(object, out);
    read += object.bytes().size();
    if (read + (out.size() - start) >= bytes && next_ < list_.items.size()) return true;
  }
  out += api::kListEnd;
  return false;
}

void ListText::write_start(std::string& out) const {
  switch (how_.form) {
    case Form::Full: write_full_list_start(how_, list_, out); break;
    case Form::Metadata: api::append_partial_metadata_list_start(head_of(list_), out); break;
    case Form::Table:
      api::append_table_start(*how_.kind, head_of(list_), table_options(how_, now_, true), out);
      break;
  }
}

void ListText::write_item(const api::Object& object, std::string& out) const {
  switch (how_.form) {
    case Form::Full:
      api::encode_as(*how_.kind, object, object.revision(),
                     {.version = how_.version, .with_type = false}, out);
      break;
    case Form::Metadata: api::append_partial_metadata(object, object.revision(), out); break;
    case Form::Table:
      api::append_table_row(*how_.kind, {.object = &object, .revision = object.revision()},
                            table_options(how_, now_, true), out);
      break;
  }
}

void write_event(const Rendering& how, std::string_view type, const api::Object& object,
                 api::Revision revision, Time now, EventOptions options, std::string& out) {
  out.append(R"({"type":")").append(type).append(R"(","object":)");
  write_one(how, object, revision, now, options.columns, out);
  out += "}\n";
}

void write_bookmark(const Rendering& how, const api::Bookmark& bookmark, EventOptions options,
                    std::string& out) {
  out += R"({"type":"BOOKMARK","object":)";
  switch (how.form) {
    case Form::Full: {
      // An object without content: members that are always written are there, and empty.
      api::JsonObject metadata{{"resourceVersion", std::to_string(bookmark.revision.value)}};
      if (bookmark.initial_events_end)
        metadata["annotations"] = api::JsonObject{{"k8s.io/initial-events-end", "true"}};
      const std::string text = api::canonical_text(
          *how.kind->message, api::JsonObject{{"metadata", std::move(metadata)}});
      fmt::format_to(std::back_inserter(out), R"({{"kind":"{}","apiVersion":"{}",{})",
                     how.kind->kind, how.kind->api_version(how.version),
                     std::string_view(text).substr(1));
      break;
    }
    case Form::Metadata: api::append_partial_metadata(bookmark, out); break;
    case Form::Table:
      api::append_table(*how.kind, bookmark, table_options(how, Time{}, options.columns), out);
      break;
  }
  out += "}\n";
}

std::string indent_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  Indenter().add(json, out);
  return out;
}

void Indenter::add(std::string_view json, std::string& out) {
  const auto line = [&] { out.append(1, '\n').append(depth_ * 2, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_ == In::Text) {
      const std::size_t start = i;
      while (i < json.size() && json[i] != '"' && json[i] != '\\') ++i;
      if (i < json.size()) in_ = json[i] == '"' ? In::Structure : In::Escape;
      out.append(json.substr(start, i + 1 - start));
      continue;
    }
    if (in_ == In::Escape) {
      out += c;
      in_ = In::Text;
      continue;
    }
    if (c == '\n') continue;
    const bool closes = c == '}' || c == ']';
    if (std::exchange(opened_, false)) {
      if (closes) {  // with nothing in it
        out += c;
        continue;
      }
      ++depth_;
      line();
    }
    if (closes) {
      if (depth_ > 0) --depth_;
      line();
    }
    out += c;
    switch (c) {
      case '"': in_ = In::Text; break;
      case '{':
      case '[': opened_ = true; break;
      case ',': line(); break;
      case ':': out += ' '; break;
      default: break;
    }
  }
}

}  // namespace muster::server
