#include "server/http/http1_parser.h"

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cctype>
#include <string>

namespace muster::server {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeadBytesMax = 64U << 10U;
// Chunk heads with their extensions, and trailers, must fit into this.
constexpr std::size_t kUnusedBytesMax = 8U << 10U;
// What chunking may cost beside the data. Go's server allows the same.
constexpr std::uint64_t kFramingBytes = 16U << 10U;
constexpr std::uint64_t kFramingBytesPerChunk = 16;
constexpr std::string_view kChunkedEnd = "0\r\n\r\n";
constexpr std::size_t kBodyReserveMax = 64U << 10U;
constexpr boost::beast::string_view kImpersonate = "Impersonate-";

Method to_method(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::Get;
    case http::verb::head: return Method::Head;
    case http::verb::post: return Method::Post;
    case http::verb::put: return Method::Put;
    case http::verb::patch: return Method::Patch;
    case http::verb::delete_: return Method::Delete;
    default: return Method::Other;
  }
}

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// What Go's server takes for a host: what may stand in one, whether it makes sense or not.
bool is_host(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!$%&'()*+,-.:;=[]_~").find(c) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Http1Parser::Http1Parser(HttpRequest& into, std::size_t body_bytes_max) : into_(into) {
  header_limit(kHeadBytesMax);
  body_limit(body_bytes_max);
  eager(true);
}

std::size_t Http1Parser::parse(std::string_view bytes, error_code& error) {
  if (!head_done_ && finds_fold(bytes)) {
    error = http::error::bad_value;
    return 0;
  }
  // Beast may not be asked again with less than the shortest end of a chunked body.
  if (head_done_ && chunked() && starved_ && bytes.size() < kChunkedEnd.size()) return 0;
  const bool in_body = head_done_;
  const std::uint64_t body_before = body_bytes_;
  const std::size_t used = put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  looked_at_ -= std::min(looked_at_, used);
  starved_ = error == http::error::need_more;
  if (starved_) error = {};
  if (error || is_done() || !head_done_) return used;
  // Bytes of the head are not told apart from those of the body when both come at once; the head is
  // bounded already.
  if (in_body) framing_bytes_ += used - (body_bytes_ - body_before);
  if (chunked() &&
      (bytes.size() - used > kUnusedBytesMax ||
       framing_bytes_ > kFramingBytes + kFramingBytesPerChunk * chunks_ + 2 * body_bytes_))
    error = http::error::bad_chunk_extension;
  return used;
}

void Http1Parser::discard_body(std::size_t bytes_max) {
  discards_ = true;
  discard_max_ = body_bytes_ + bytes_max;
  into_.body.clear();
  into_.body.shrink_to_fit();
}

bool Http1Parser::finds_fold(std::string_view bytes) {
  for (; looked_at_ < bytes.size(); ++looked_at_) {
    const char c = bytes[looked_at_];
    if (last_ == '\n') {
      if (c == ' ' || c == '\t') return true;
      // An empty line ends the head; what follows is none of our business.
      if (c == '\r' || c == '\n') {
        looked_at_ = bytes.size();
        return false;
      }
    }
    last_ = c;
  }
  return false;
}

void Http1Parser::on_request_impl(http::verb verb, Text verb_text, Text target, int version,
                                  error_code&) {
  into_.method = to_method(verb);
  into_.method_name = to_std(verb_text);
  into_.target = to_std(target);
  version_ = version;
}

void Http1Parser::on_field_impl(http::field name, Text name_text, Text value, error_code& error) {
  if (head_done_) return;  // a trailer: it was not there when the head was judged
  switch (name) {
    case http::field::unknown:
      if (boost::beast::iequals(name_text.substr(0, kImpersonate.size()), kImpersonate))
        into_.add_impersonation(lower_case(to_std(name_text)), to_std(value));
      break;
    case http::field::host:
      into_.host = to_std(value);
      if (++hosts_ > 1 || !is_host(into_.host)) error = http::error::bad_field;
      break;
    case http::field::content_length:
      if (has_encoding_ || has_length_ || !is_number(to_std(value)))
        error = http::error::bad_content_length;
      has_length_ = true;
      break;
    case http::field::transfer_encoding:
      if (has_encoding_ || has_length_ || !boost::beast::iequals(value, "chunked"))
        error = http::error::bad_transfer_encoding;
      has_encoding_ = true;
      break;
    case http::field::accept:
      if (!into_.accept.empty()) into_.accept += ',';
      into_.accept += to_std(value);
      break;
    case http::field::accept_encoding: into_.accept_encoding = to_std(value); break;
    case http::field::authorization: into_.authorization = to_std(value); break;
    case http::field::content_type: into_.content_type = to_std(value); break;
    case http::field::if_none_match: into_.if_none_match = to_std(value); break;
    case http::field::user_agent: into_.user_agent = to_std(value); break;
    case http::field::expect:
      expects_continue_ = boost::beast::iequals(value, "100-continue");
      break;
    default: break;
  }
}

void Http1Parser::on_header_impl(error_code& error) {
  head_done_ = true;
  if (hosts_ == 0 && !is_http_1_0()) error = http::error::bad_field;
  if (has_encoding_ && is_http_1_0()) error = http::error::bad_transfer_encoding;
}

void Http1Parser::on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) {
  if (length)
    into_.body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, kBodyReserveMax)));
}

std::size_t Http1Parser::on_body_impl(Text bytes, error_code& error) {
  body_bytes_ += bytes.size();
  if (!discards_)
    into_.body.append(bytes.data(), bytes.size());
  else if (body_bytes_ > discard_max_)
    error = http::error::body_limit;
  return bytes.size();
}

}  // namespace muster::server
