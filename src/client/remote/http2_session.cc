#include "client/remote/http2_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/check.h"

namespace muster::client {
namespace {

// Answers are read as they come, so that windows need not hold anybody back.
constexpr std::uint32_t kStreamWindow = 4U << 20U;
constexpr std::int32_t kConnectionWindow = 16 << 20;

// As client-go has them.
constexpr Duration kSilence = std::chrono::seconds{30};
constexpr Duration kPingPatience = std::chrono::seconds{15};

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// nghttp2 copies what it is given and asks for pointers to bytes that may change.
nghttp2_nv pair(std::string_view name, std::string_view value,
                std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = flags};
}

}  // namespace

nghttp2_session_callbacks* Http2Session::callbacks() {
  static nghttp2_session_callbacks* const made = [] {
    nghttp2_session_callbacks* out = nullptr;
    CHECK(nghttp2_session_callbacks_new(&out) == 0);
    nghttp2_session_callbacks_set_on_header_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                std::uint8_t /*flags*/, void* user) {
          self(user).on_header(frame->hd.stream_id, text_of(name, name_size),
                               text_of(value, value_size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        out, [](nghttp2_session*, std::uint8_t /*flags*/, std::int32_t id,
                const std::uint8_t* bytes, std::size_t size, void* user) {
          self(user).on_data(id, text_of(bytes, size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        out, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
          self(user).on_close(id, code);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_GOAWAY) self(user).leaving_ = true;
          if (frame->hd.type == NGHTTP2_HEADERS) self(user).on_headers_end(frame->hd.stream_id);
          return 0;
        });
    return out;
  }();
  return made;
}

Http2Session::Http2Session(Endpoint& endpoint) : endpoint_(endpoint) {
  CHECK(nghttp2_session_client_new(&session_, callbacks(), this) == 0);
  const std::array<nghttp2_settings_entry, 2> settings{
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}}};
  CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) ==
        0);
  CHECK(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow) ==
        0);
}

Http2Session::~Http2Session() { nghttp2_session_del(session_); }

bool Http2Session::takes_more() const {
  return !leaving_ && nghttp2_session_check_request_allowed(session_) != 0;
}

void Http2Session::ask(Asked asked) {
  const HttpCall& call = asked.call;
  const std::string path = std::string(endpoint_.path_prefix()) + call.target;
  const std::string token = endpoint_.token();
  const std::string bearer = token.empty() ? "" : "Bearer " + token;
  std::vector<nghttp2_nv> headers{
      pair(":method", call.method), pair(":scheme", "https"),
      pair(":authority", endpoint_.authority()),
      // Never the same again: it would push out of the table what all requests have in common.
      pair(":path", path, NGHTTP2_NV_FLAG_NO_INDEX),
      pair("accept", call.accept.empty() ? "application/json" : std::string_view(call.accept)),
      pair("user-agent", endpoint_.options().user_agent)};
  const bool has_body = !call.content_type.empty();
  if (has_body) headers.push_back(pair("content-type", call.content_type));
  if (!bearer.empty()) headers.push_back(pair("authorization", bearer));
  for (const auto& [name, value] : endpoint_.identity_headers())
    headers.push_back(pair(name, value));
  const nghttp2_data_provider body{.source = {.ptr = nullptr}, .read_callback = read_body};
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(),
                                                 has_body ? &body : nullptr, nullptr);
  if (id < 0) {
    leaving_ = true;
    ended_.push_back({std::move(asked), std::nullopt});
    return;
  }
  if (asked.sink) ++watches_;
  if (asked.deadline && asked.sink) stream_deadlines_.emplace(*asked.deadline, id);
  if (asked.deadline && !asked.sink) deadlines_.emplace_back(*asked.deadline, id);
  streams_.emplace(id, std::make_unique<Stream>(Stream{.asked = std::move(asked), .reply = {}}));
}

Result<void> Http2Session::on_bytes(std::string_view bytes) {
  has_read_ = true;
  const auto taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0)
    return fail(endpoint_.unasked(CURLE_HTTP2, nghttp2_strerror(static_cast<int>(taken))));
  return {};
}

Result<void> Http2Session::write(std::string& out) {
  const std::uint8_t* bytes = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &bytes)) != 0;) {
    if (size < 0)
      return fail(endpoint_.unasked(CURLE_HTTP2, nghttp2_strerror(static_cast<int>(size))));
    out += text_of(bytes, static_cast<std::size_t>(size));
  }
  // nghttp2 has given the connection up, unless the server left and all is answered.
  const bool is_over = nghttp2_session_want_read(session_) == 0;
  if (is_over && (!leaving_ || open() > 0))
    return fail(endpoint_.unasked(CURLE_HTTP2, "what it sends is not HTTP/2"));
  return {};
}

ssize_t Http2Session::read_body(nghttp2_session* /*session*/, std::int32_t id, std::uint8_t* out,
                                std::size_t size, std::uint32_t* flags,
                                nghttp2_data_source* /*source*/, void* user) {
  Stream* const stream = self(user).find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string& body = stream->asked.call.body;
  const std::size_t count = std::min(size, body.size() - stream->sent);
  std::ranges::copy(std::string_view(body).substr(stream->sent, count), out);
  stream->sent += count;
  if (stream->sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

Http2Session::Stream* Http2Session::find(std::int32_t id) {
  const auto at = streams_.find(id);
  return at == streams_.end() ? nullptr : at->second.get();
}

void Http2Session::on_header(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* const stream = find(id);
  if (stream == nullptr) return;
  if (name == ":status")
    std::from_chars(value.data(), value.data() + value.size(), stream->reply.code);
  else
    add_header(name, value, stream->reply);
}

void Http2Session::on_headers_end(std::int32_t id) {
  Stream* const stream = find(id);
  if (stream == nullptr || !stream->asked.sink || stream->reply.code / 100 != 2) return;
  if (!stream->asked.sink({})) cancel(id, CURLE_WRITE_ERROR, "");
}

void Http2Session::on_data(std::int32_t id, std::string_view bytes) {
  Stream* const stream = find(id);
  if (stream == nullptr) return;
  if (stream->asked.sink && stream->reply.code < 300) {
    if (!stream->asked.sink(bytes)) cancel(id, CURLE_WRITE_ERROR, "");
    return;
  }
  if (stream->reply.body.size() + bytes.size() > kBodyBytesMax)
    return cancel(id, CURLE_FILESIZE_EXCEEDED, "");
  stream->reply.body += bytes;
}

void Http2Session::on_close(std::int32_t id, std::uint32_t code) {
  Stream* const stream = find(id);
  if (stream == nullptr) return;
  if (code == NGHTTP2_REFUSED_STREAM) return end(id, std::nullopt);
  if (code != NGHTTP2_NO_ERROR || stream->reply.code == 0)
    return end(id, fail(endpoint_.unasked(CURLE_HTTP2_STREAM, nghttp2_http2_strerror(code))));
  end(id, std::move(stream->reply));
}

void Http2Session::cancel(std::int32_t id, CURLcode code, std::string_view why) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  end(id, fail(endpoint_.unasked(code, why)));
}

// Its `done` is not called here: that may ask more, in the middle of what nghttp2 does.
void Http2Session::end(std::int32_t id, std::optional<Result<HttpReply>> reply) {
  const auto at = streams_.find(id);
  Asked asked = std::move(at->second->asked);
  streams_.erase(at);
  if (asked.sink) --watches_;
  if (asked.sink && asked.deadline) stream_deadlines_.erase({*asked.deadline, id});
  ended_.push_back({std::move(asked), std::move(reply)});
}

Result<void> Http2Session::expire(Time now) {
  if (!quiet_since_) quiet_since_ = now;
  if (std::exchange(has_read_, false)) {
    heard_ = quiet_since_ = now;
    pinged_.reset();
  }
  while (!deadlines_.empty()) {
    const auto [deadline, id] = deadlines_.front();
    if (find(id) != nullptr) {
      if (now < deadline) break;
      expire_stream(id);
    }
    deadlines_.pop_front();
  }
  while (!stream_deadlines_.empty() && stream_deadlines_.begin()->first <= now)
    expire_stream(stream_deadlines_.begin()->second);
  return keep_alive(now);
}

// The server, or what lies between, may answer on another connection.
void Http2Session::expire_stream(std::int32_t id) {
  if (!heard_ || *heard_ <= find(id)->asked.since) leaving_ = true;
  cancel(id, CURLE_OPERATION_TIMEDOUT, "it took too long");
}

Result<void> Http2Session::keep_alive(Time now) {
  if (open() == 0) return {};
  if (pinged_ && now - *pinged_ >= kPingPatience)
    return fail(endpoint_.unasked(CURLE_RECV_ERROR, "the connection has fallen silent"));
  if (!pinged_ && now - *quiet_since_ >= kSilence) {
    pinged_ = now;
    CHECK(nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr) == 0);
  }
  return {};
}

std::optional<Time> Http2Session::next_deadline() const {
  if (open() == 0) return std::nullopt;
  std::optional<Time> next;
  if (pinged_)
    next = *pinged_ + kPingPatience;
  else if (quiet_since_)
    next = *quiet_since_ + kSilence;
  if (!deadlines_.empty()) next = std::min(next.value_or(Time::max()), deadlines_.front().first);
  if (!stream_deadlines_.empty())
    next = std::min(next.value_or(Time::max()), stream_deadlines_.begin()->first);
  return next;
}

std::vector<Asked> Http2Session::take_open() {
  std::vector<std::pair<std::int32_t, Asked>> open;
  for (auto& [id, stream] : streams_) open.emplace_back(id, std::move(stream->asked));
  streams_.clear();
  stream_deadlines_.clear();
  watches_ = 0;
  std::ranges::sort(open, {}, &std::pair<std::int32_t, Asked>::first);
  std::vector<Asked> out;
  for (auto& [id, asked] : open) out.push_back(std::move(asked));
  return out;
}

}  // namespace muster::client
