#pragma once

#include <nghttp2/nghttp2.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/message.h"

namespace muster::server {

// Adds a header to the request; those we never read are left out.
void add_header(std::string_view name, std::string_view value, HttpRequest& into);

// The headers of a response in HTTP/2's form; holds the text they point to.
class HeaderBlock {
 public:
  HeaderBlock(const HttpResponse& response, std::string_view date, bool streams);

  // Valid while the block lives.
  std::vector<nghttp2_nv> pairs();

 private:
  void add(std::string_view name, std::string_view value);

  std::vector<std::pair<std::string, std::string>> texts_;
};

}  // namespace muster::server
