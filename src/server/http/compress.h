#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::server {

// As upstream; below it the gain is not worth the time.
inline constexpr std::size_t kGzipBytesMin = 128U << 10U;

// `text` as gzip, compressed for speed rather than size; nullopt if zlib has no memory.
std::optional<std::string> gzip(std::string_view text);

// The same for a text that comes in pieces.
class Gzip {
 public:
  // Null if zlib has no memory.
  static std::unique_ptr<Gzip> begin();
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  // Appends what is packed so far.
  void add(std::string_view text, std::string& out) { pack(text, /*is_last=*/false, out); }
  void end(std::string& out) { pack({}, /*is_last=*/true, out); }

 private:
  Gzip();
  void pack(std::string_view text, bool is_last, std::string& out);

  struct Stream;
  const std::unique_ptr<Stream> stream_;
};

}  // namespace muster::server
