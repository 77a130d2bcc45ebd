#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/http/message.h"

namespace muster::server {

// Beast's parser, filling our own request: no table of all headers is built, and strings are
// reused. Stricter than Beast where two readers could disagree about where a message ends: folded
// headers, more than one Host, any Transfer-Encoding but chunked, and both kinds of length at once
// are refused. Trailers and chunk extensions are bounded and dropped.
class Http1Parser final : public boost::beast::http::basic_parser<true> {
 public:
  using error_code = boost::system::error_code;  // NOLINT: the name that Boost has

  Http1Parser(HttpRequest& into, std::size_t body_bytes_max);

  // Parses as much as it can and returns how many bytes it used; the caller gives the rest again,
  // with more behind it. The rest is bounded: a message that needs more in one piece is an error.
  std::size_t parse(std::string_view bytes, error_code& error);

  // From here on the body is counted and thrown away; beyond `bytes_max` it is body_limit.
  void discard_body(std::size_t bytes_max);
  bool expects_continue() const { return expects_continue_; }
  bool is_http_1_0() const { return version_ < 11; }
  // Whether discard_body() was called.
  bool discards() const { return discards_; }

 private:
  using Text = boost::beast::string_view;
  void on_request_impl(boost::beast::http::verb verb, Text verb_text, Text target, int version,
                       error_code& error) override;
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field name, Text name_text, Text value,
                     error_code& error) override;
  void on_header_impl(error_code& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override;
  std::size_t on_body_impl(Text bytes, error_code& error) override;
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override { ++chunks_; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, error_code& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(error_code&) override {}

  // True if a line of the head begins with a blank: a folded header.
  bool finds_fold(std::string_view bytes);

  HttpRequest& into_;
  int version_ = 11;
  int hosts_ = 0;
  bool head_done_ = false;
  bool has_length_ = false;
  bool has_encoding_ = false;
  bool expects_continue_ = false;
  bool discards_ = false;
  bool starved_ = false;  // the last call could not use what it was given

  // The look for folds: bytes of the unused rest that were looked at, and the last of them.
  std::size_t looked_at_ = 0;
  char last_ = '\n';

  std::uint64_t body_bytes_ = 0;
  std::uint64_t discard_max_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t framing_bytes_ = 0;  // of a chunked body, besides its data
};

}  // namespace muster::server
