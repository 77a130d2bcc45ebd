#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "server/http/message.h"

// The HTTP/1.1 side of a response, as text. (Requests are parsed by Beast, in http1_parser.h.)
namespace muster::server {

struct HeadOptions {
  bool keep_alive = true;
  bool http_1_0 = false;  // the client's version
  // A body whose length is not known: chunked or, for an HTTP/1.0 client, until the connection
  // closes.
  bool streams = false;
  std::string_view date;  // "Sun, 06 Nov 1994 08:49:37 GMT"
};
// Appends status line and headers up to the blank line.
void write_head(const HttpResponse& response, const HeadOptions& options, std::string& out);

std::string http_date(Time time);

// Chunks are written in place: open_chunk() leaves room for the length, the caller appends the
// bytes, and close_chunk() fills the length in. An empty chunk would end the body, so it is removed
// instead.
std::size_t open_chunk(std::string& out);
void close_chunk(std::string& out, std::size_t opened);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace muster::server
