#include "client/remote/stream_pieces.h"

#include <algorithm>

namespace muster::client {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kKeepBytes = std::size_t{64} << 10;  // a buffer that grew is given back

tl::unexpected<Error> too_long() {
  return fail(Reason::InternalError, "an event of a watch is longer than {} bytes",
              StreamPieces::kPieceBytesMax);
}

// The length that a frame begins with.
std::size_t length_in(std::string_view frame) {
  std::size_t length = 0;
  for (const char byte : frame.substr(0, kLengthBytes))
    length = (length << 8U) | static_cast<unsigned char>(byte);
  return length;
}

}  // namespace

void StreamPieces::start() {
  form_ = Form::Unknown;
  partial_.clear();
}

Result<void> StreamPieces::add(std::string_view bytes, const Each& each) {
  if (bytes.empty()) return {};
  if (form_ == Form::Unknown) {
    constexpr auto kFirstByteMax = static_cast<unsigned char>(kPieceBytesMax >> 24U);
    form_ = static_cast<unsigned char>(bytes.front()) <= kFirstByteMax ? Form::Frames : Form::Lines;
  }
  return form_ == Form::Lines ? add_lines(bytes, each) : add_frames(bytes, each);
}

Result<void> StreamPieces::add_lines(std::string_view bytes, const Each& each) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      partial_ += bytes;
      break;
    }
    if (partial_.empty()) {
      if (end > 0) TRY(each(bytes.substr(0, end)));
    } else {
      partial_ += bytes.substr(0, end);
      TRY(end_partial(each, 0));
    }
    bytes.remove_prefix(end + 1);
  }
  if (partial_.size() > kPieceBytesMax) return too_long();
  return {};
}

Result<void> StreamPieces::add_frames(std::string_view bytes, const Each& each) {
  while (!bytes.empty()) {
    if (partial_.empty() && bytes.size() >= kLengthBytes) {
      const std::size_t length = length_in(bytes);
      if (length > kPieceBytesMax) return too_long();
      if (bytes.size() - kLengthBytes >= length) {
        TRY(each(bytes.substr(kLengthBytes, length)));
        bytes.remove_prefix(kLengthBytes + length);
        continue;
      }
    }
    const std::size_t wanted =
        kLengthBytes + (partial_.size() < kLengthBytes ? 0 : length_in(partial_));
    const std::size_t count = std::min(wanted - partial_.size(), bytes.size());
    partial_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (partial_.size() < kLengthBytes) continue;
    const std::size_t length = length_in(partial_);
    if (length > kPieceBytesMax) return too_long();
    if (partial_.size() == kLengthBytes + length) TRY(end_partial(each, kLengthBytes));
  }
  return {};
}

Result<void> StreamPieces::end_partial(const Each& each, std::size_t skip) {
  Result<void> done = each(std::string_view(partial_).substr(skip));
  if (partial_.capacity() > kKeepBytes)
    partial_ = {};
  else
    partial_.clear();
  return done;
}

}  // namespace muster::client
