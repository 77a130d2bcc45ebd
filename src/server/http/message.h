#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// HTTP messages as the rest of the room sees them: no Beast, no sockets. HTTP/1.1 fills and writes
// them in http1_connection.h and http1_parser.h, HTTP/2 in http2_stream.h.
namespace muster::server {

// Empties a text and frees its memory. Assigning an empty one keeps the memory (libstdc++).
inline void free_memory(std::string& text) { std::string().swap(text); }

enum class Method : std::uint8_t { Get, Head, Post, Put, Patch, Delete, Other };

struct HttpRequest {
  Method method = Method::Get;
  std::string method_name;  // as sent: "GET"
  std::string target;       // path and query, still percent-encoded
  std::string host;
  std::string accept;
  std::string accept_encoding;
  std::string authorization;
  std::string content_type;
  std::string if_none_match;
  std::string user_agent;
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  // The rest of the header's name, in lower case and still percent-encoded, and its value.
  std::vector<std::pair<std::string, std::string>> impersonate_extra;
  std::string body;

  // Adds an Impersonate-… header, its name in lower case; leaves any other alone.
  void add_impersonation(std::string_view name, std::string_view value);
  bool impersonates() const {
    return !impersonate_user.empty() || !impersonate_uid.empty() || !impersonate_groups.empty() ||
           !impersonate_extra.empty();
  }

  // The memory its head takes.
  std::size_t head_bytes() const;
  // Forgets everything but its method and gives the memory back.
  void release() {
    HttpRequest empty;
    empty.method = method;
    std::swap(*this, empty);  // assigning would keep the memory of the texts
  }

  // Makes it ready for the next request of a connection; keeps the strings' memory.
  void clear() {
    for (std::string* text :
         {&method_name, &target, &host, &accept, &accept_encoding, &authorization, &content_type,
          &if_none_match, &user_agent, &impersonate_user, &impersonate_uid, &body})
      text->clear();
    impersonate_groups.clear();
    impersonate_extra.clear();
    method = Method::Get;
  }
};

struct HttpResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string_view, std::string>> headers;  // beyond those every answer has
  std::string body;
  std::shared_ptr<void> large;  // the place for a large answer (ClientLedger), until it is sent
};

// Says that the body is packed.
inline void set_packed(HttpResponse& response) {
  response.headers.emplace_back("Content-Encoding", "gzip");
  response.headers.emplace_back("Vary", "Accept-Encoding");
}

// "Not Found" for 404.
std::string_view reason_phrase(int code);

}  // namespace muster::server
