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

std::vector<api::TableRow> rows_of(const api::ListAnswer& list) {
  std::vector<api::TableRow> rows;
  rows.reserve(list.items.size());
  for (const api::ObjectPtr& item : list.items)
    rows.push_back({.object = item.get(), .revision = item->revision()});
  return rows;
}

api::TableOptions table_options(const Rendering& how, Time now, bool with_columns) {
  return {.now = now,
          .include = how.include_object,
          .with_columns = with_columns,
          .version = how.version,
          .meta_version = how.meta_version,
          .groups = how.groups};
}

void write_full_list(const Rendering& how, const api::ListAnswer& list, std::string& out) {
  std::size_t bytes = 256;
  for (const api::ObjectPtr& item : list.items) bytes += item->bytes().size() + 64;
  out.reserve(out.size() + bytes);
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
  bool first = true;
  for (const api::ObjectPtr& item : list.items) {
    if (!std::exchange(first, false)) out += ',';
    api::encode_as(*how.kind, *item, item->revision(), {.version = how.version, .with_type = false},
                   out);
  }
  out += "]}";
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
  switch (how.form) {
    case Form::Full: write_full_list(how, list, out); break;
    case Form::Metadata:
      api::append_partial_metadata_list(rows_of(list), head_of(list), out);
      break;
    case Form::Table:
      api::append_table(*how.kind, rows_of(list), head_of(list), table_options(how, now, true),
                        out);
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
  std::size_t depth = 0;
  const auto line = [&] { out.append(1, '\n').append(depth * 2, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      const std::size_t start = i++;
      while (i < json.size() && json[i] != '"') i += json[i] == '\\' ? 2U : 1U;
      out.append(json.substr(start, i + 1 - start));
    } else if (c == '{' || c == '[') {
      out += c;
      const char close = c == '{' ? '}' : ']';
      if (i + 1 < json.size() && json[i + 1] == close) {
        out += json[++i];
      } else {
        ++depth;
        line();
      }
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else if (c == ':') {
      out += ": ";
    } else if (c != '\n') {
      out += c;
    }
  }
  return out;
}

}  // namespace muster::server
