#include "response_reader.h"

#include <algorithm>
#include <charconv>

namespace muster::loader {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// Appends to `kept` up to and with `end`; true once it is there. Takes what it used from `bytes`.
bool gather(std::string& kept, std::string_view& bytes, std::string_view end) {
  const std::size_t before = kept.size();
  // The end may straddle what is kept and what is new.
  const std::size_t from = before - std::min(before, end.size() - 1);
  kept.append(bytes);
  const std::size_t found = kept.find(end, from);
  if (found == std::string::npos) {
    bytes = {};
    return false;
  }
  bytes.remove_prefix(found + end.size() - before);
  kept.resize(found);
  return true;
}

}  // namespace

void ResponseReader::begin(const Line* line) {
  line_ = line;
  phase_ = Phase::Head;
  code_ = 0;
  closes_ = false;
  chunked_ = false;
  left_ = 0;
  text_.clear();
  body_.clear();
  body_bytes_ = 0;
}

ResponseReader::State ResponseReader::feed(std::string_view bytes) {
  const bool had_head = head_done();
  while (!bytes.empty() && phase_ != Phase::Done) {
    switch (phase_) {
      case Phase::Head:
        if (!gather(text_, bytes, "\r\n\r\n")) break;
        if (!parse_head(text_)) return State::Broken;
        text_.clear();
        break;
      case Phase::Length:
      case Phase::Chunk: {
        const std::size_t size = std::min(left_, bytes.size());
        append_body(bytes.substr(0, size));
        bytes.remove_prefix(size);
        left_ -= size;
        if (left_ == 0) phase_ = phase_ == Phase::Length ? Phase::Done : Phase::ChunkEnd;
        break;
      }
      case Phase::ChunkEnd:
        if (!gather(text_, bytes, kLineEnd)) break;
        if (!text_.empty()) return State::Broken;
        phase_ = Phase::ChunkSize;
        break;
      case Phase::ChunkSize:
        if (!gather(text_, bytes, kLineEnd)) break;
        if (!parse_chunk_size(text_)) return State::Broken;
        text_.clear();
        break;
      case Phase::Trailer:
        if (!gather(text_, bytes, kLineEnd)) break;
        if (text_.empty()) phase_ = Phase::Done;
        text_.clear();
        break;
      case Phase::Done: break;
    }
  }
  if (phase_ == Phase::Done) return bytes.empty() ? State::Done : State::Broken;
  return !had_head && head_done() ? State::HeadDone : State::NeedsMore;
}

bool ResponseReader::parse_head(std::string_view head) {
  constexpr std::string_view kVersion = "HTTP/1.";
  if (!head.starts_with(kVersion) || head.size() < 12) return false;
  if (std::from_chars(head.data() + 9, head.data() + 12, code_).ec != std::errc{}) return false;
  for (std::size_t at = head.find(kLineEnd); at != std::string_view::npos;) {
    at += kLineEnd.size();
    const std::size_t end = head.find(kLineEnd, at);
    const std::string_view line = head.substr(at, end == std::string_view::npos ? end : end - at);
    at = end;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    if (same_letters(name, "content-length"))
      std::from_chars(value.data(), value.data() + value.size(), left_);
    else if (same_letters(name, "transfer-encoding"))
      chunked_ = same_letters(value, "chunked");
    else if (same_letters(name, "connection"))
      closes_ = same_letters(value, "close");
  }
  if (code_ == 204 || code_ == 304) left_ = 0;
  if (chunked_)
    phase_ = Phase::ChunkSize;
  else
    phase_ = left_ > 0 ? Phase::Length : Phase::Done;
  if (line_ == nullptr || code_ != 200) {
    line_ = nullptr;
    body_.reserve(left_);
  }
  return true;
}

bool ResponseReader::parse_chunk_size(std::string_view line) {
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, left_, 16);
  if (error != std::errc{}) return false;
  phase_ = left_ == 0 ? Phase::Trailer : Phase::Chunk;
  return true;
}

void ResponseReader::append_body(std::string_view bytes) {
  body_bytes_ += bytes.size();
  if (line_ == nullptr) {
    body_.append(bytes);
    return;
  }
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    if (body_.empty()) {
      (*line_)(bytes.substr(0, end));
    } else {
      body_.append(bytes.substr(0, end));
      (*line_)(body_);
      body_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
  body_.append(bytes);
}

}  // namespace muster::loader
