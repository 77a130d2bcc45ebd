#include "server/core/request/status.h"

#include <fmt/format.h>

#include <iterator>

#include "api/json.h"

namespace muster::server {
namespace {

// Writes `"key":"text",` unless the text is empty.
void member(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  api::write_string(key, out);
  out += ':';
  api::write_string(text, out);
  out += ',';
}

void close(std::string& out, char bracket) {
  if (out.back() == ',') out.pop_back();
  out += bracket;
}

void write_causes(std::string& out, const std::vector<Cause>& causes) {
  if (causes.empty()) return;
  out += R"("causes":[)";
  for (const Cause& cause : causes) {
    out += '{';
    member(out, "reason", cause.type);  // the type stands under this key, for historical reasons
    member(out, "message", cause.message);
    member(out, "field", cause.field);
    close(out, '}');
    out += ',';
  }
  close(out, ']');
  out += ',';
}

bool has_details(const Error& error) {
  return !error.name.empty() || !error.group.empty() || !error.kind.empty() || !error.uid.empty() ||
         !error.causes.empty() || error.retry_after_s > 0;
}

// Refusals that upstream makes from a bare HTTP code have details, with nothing in them.
bool has_empty_details(const Error& error) {
  return error.reason == Reason::NotFound || error.reason == Reason::MethodNotAllowed ||
         error.reason == Reason::Invalid ||
         (error.reason == Reason::UnsupportedMediaType && error.message.starts_with("415: "));
}

void write_details(std::string& out, const Error& error) {
  out += R"("details":{)";
  member(out, "name", error.name);
  member(out, "group", error.group);
  member(out, "kind", error.kind);
  member(out, "uid", error.uid);
  write_causes(out, error.causes);
  if (error.retry_after_s > 0)
    fmt::format_to(std::back_inserter(out), R"("retryAfterSeconds":{},)", error.retry_after_s);
  close(out, '}');
  out += ',';
}

}  // namespace

std::string status_json(const Error& error, std::string_view continue_token) {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{)";
  member(out, "continue", continue_token);
  close(out, '}');
  out += R"(,"status":"Failure",)";
  member(out, "message", error.message);
  member(out, "reason", reason_name(error.reason));
  if (has_details(error) || has_empty_details(error)) write_details(out, error);
  fmt::format_to(std::back_inserter(out), R"("code":{}}})", http_code(error.reason));
  return out;
}

std::string status_json(const api::StatusAnswer& answer) {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",)";
  if (!answer.name.empty()) {
    out += R"("details":{)";
    member(out, "name", answer.name);
    member(out, "group", answer.group);
    member(out, "kind", answer.kind);
    member(out, "uid", answer.uid);
    close(out, '}');
    out += ',';
  }
  // Deletions carry no code upstream, bindings and evictions do.
  if (answer.code != 200) fmt::format_to(std::back_inserter(out), R"("code":{},)", answer.code);
  close(out, '}');
  return out;
}

}  // namespace muster::server
