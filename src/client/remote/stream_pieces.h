#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::client {

// Cuts a watch into its events, however its bytes arrive: lines of JSON, or frames of protobuf
// after four bytes of length. The first byte of a stream tells which: no frame is long enough to
// begin like text.
class StreamPieces {
 public:
  enum class Form : std::uint8_t { Unknown, Lines, Frames };
  using Each = std::function<Result<void>(std::string_view piece)>;

  // A new stream begins.
  void start();
  // Hands over every piece that is complete by now. The error is that of `each`, or that a piece is
  // too long; then the stream is unusable.
  Result<void> add(std::string_view bytes, const Each& each);
  Form form() const { return form_; }

  static constexpr std::size_t kPieceBytesMax = std::size_t{64} << 20;  // objects have 3 MiB or so

 private:
  Result<void> add_lines(std::string_view bytes, const Each& each);
  Result<void> add_frames(std::string_view bytes, const Each& each);
  Result<void> end_partial(const Each& each, std::size_t skip);

  Form form_ = Form::Unknown;
  std::string partial_;  // the beginning of a piece, its length included
};

}  // namespace muster::client
