#include "server/http/compress.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace muster::server {
namespace {

constexpr int kLevel = 1;  // what upstream uses: the network is rarely slower than deflate
constexpr int kGzipWindow = 15 + 16;  // largest window, with a gzip wrapper

}  // namespace

struct Gzip::Stream : z_stream {};

Gzip::Gzip() : stream_(std::make_unique<Stream>()) {}

Gzip::~Gzip() { deflateEnd(stream_.get()); }

std::unique_ptr<Gzip> Gzip::begin() {
  std::unique_ptr<Gzip> made(new Gzip);
  if (deflateInit2(made->stream_.get(), kLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return nullptr;
  return made;
}

void Gzip::pack(std::string_view text, bool is_last, std::string& out) {
  std::array<Bytef, 64U << 10U> packed;
  do {
    const auto size = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
    // zlib's interface predates const; it only reads.
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_->avail_in = static_cast<uInt>(size);
    text.remove_prefix(size);
    const int flush = is_last && text.empty() ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream_->next_out = packed.data();
      stream_->avail_out = static_cast<uInt>(packed.size());
      if (deflate(stream_.get(), flush) == Z_STREAM_ERROR)
        throw std::logic_error("zlib has lost its stream");
      out.append(reinterpret_cast<const char*>(packed.data()), packed.size() - stream_->avail_out);
    } while (stream_->avail_out == 0);
  } while (!text.empty());
}

std::optional<std::string> gzip(std::string_view text) {
  const std::unique_ptr<Gzip> packer = Gzip::begin();
  if (packer == nullptr) return std::nullopt;
  std::string out;
  packer->add(text, out);
  packer->end(out);
  return out;
}

}  // namespace muster::server
