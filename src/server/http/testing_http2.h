#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/http/testing_wire.h"

// For tests only.
namespace muster::server::testing {

// A blocking HTTP/2 client: many streams, one thread.
class Http2Wire {
 public:
  explicit Http2Wire(const Endpoint& server, Wire::Options options = {})
      : wire_(server, {.client = options.client != nullptr ? options.client : &server.admin,
                       .plain = false,
                       .http2 = true,
                       .receive_buffer = options.receive_buffer}) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
          HttpReply& reply = self(user).replies[frame->hd.stream_id];
          const std::string key(reinterpret_cast<const char*>(name), name_size);
          const std::string text(reinterpret_cast<const char*>(value), value_size);
          if (key == ":status") reply.code = std::stoi(text);
          reply.headers[key] = text;
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                      std::size_t size, void* user) {
          self(user).replies[id].body.append(reinterpret_cast<const char*>(bytes), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
          self(user).closed[id] = code;
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_GOAWAY) self(user).sent_away = true;
          return 0;
        });
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Http2Wire() { nghttp2_session_del(session_); }
  Http2Wire(const Http2Wire&) = delete;
  Http2Wire& operator=(const Http2Wire&) = delete;

  bool open() const { return wire_.open(); }

  using Headers = std::vector<std::pair<std::string, std::string>>;
  std::int32_t ask(const std::string& method, const std::string& target, std::string body = {},
                   Headers trailers = {}, const Headers& more = {}) {
    Headers texts = {{":method", method},
                     {":scheme", "https"},
                     {":authority", "localhost"},
                     {":path", target},
                     {"content-type", "application/json"}};
    texts.insert(texts.end(), more.begin(), more.end());
    std::vector<nghttp2_nv> pairs = pairs_of(texts);
    nghttp2_data_provider provider{};
    provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into,
                                std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                                void* user) -> ssize_t {
      std::string& rest = self(user).bodies_[id];
      const std::size_t given = std::min(size, rest.size());
      std::copy_n(rest.data(), given, into);
      rest.erase(0, given);
      if (!rest.empty()) return static_cast<ssize_t>(given);
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      Headers& last = self(user).trailers_[id];
      if (last.empty()) return static_cast<ssize_t>(given);
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      std::vector<nghttp2_nv> fields = pairs_of(last);
      nghttp2_submit_trailer(self(user).session_, id, fields.data(), fields.size());
      return static_cast<ssize_t>(given);
    };
    const bool has_body = !body.empty();
    const std::int32_t id = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(),
                                                   has_body ? &provider : nullptr, nullptr);
    bodies_[id] = std::move(body);
    trailers_[id] = std::move(trailers);
    return id;
  }

  // Sends what is to be sent and reads what comes, once. False at the end.
  bool turn() {
    send();
    const std::string bytes = wire_.read_available();
    if (bytes.empty()) return false;
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0;
  }
  void send() {
    const std::uint8_t* frames = nullptr;
    std::string all;
    while (true) {
      const ssize_t size = nghttp2_session_mem_send(session_, &frames);
      if (size <= 0) break;
      all.append(reinterpret_cast<const char*>(frames), static_cast<std::size_t>(size));
    }
    if (!all.empty()) wire_.write(all);
  }
  HttpReply wait_for(std::int32_t id) {
    while (!closed.contains(id) && turn()) {
    }
    return replies[id];
  }
  void reset(std::int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  Wire& wire() { return wire_; }
  void ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

  std::map<std::int32_t, HttpReply> replies;
  std::map<std::int32_t, std::uint32_t> closed;
  bool sent_away = false;

 private:
  static std::vector<nghttp2_nv> pairs_of(Headers& texts) {
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : texts)
      pairs.push_back({.name = reinterpret_cast<std::uint8_t*>(name.data()),
                       .value = reinterpret_cast<std::uint8_t*>(value.data()),
                       .namelen = name.size(),
                       .valuelen = value.size(),
                       .flags = NGHTTP2_NV_FLAG_NONE});
    return pairs;
  }
  static Http2Wire& self(void* user) { return *static_cast<Http2Wire*>(user); }

  Wire wire_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, std::string> bodies_;
  std::map<std::int32_t, Headers> trailers_;
};

}  // namespace muster::server::testing
