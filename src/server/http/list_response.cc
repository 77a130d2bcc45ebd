#include "server/http/list_response.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/http/warnings.h"

namespace muster::server {
namespace {

// Read and written before others get their turn: to pack it takes some ten milliseconds.
constexpr std::size_t kPieceBytes = 512U << 10U;

}  // namespace

std::size_t bytes_of(const api::ListAnswer& list) {
  std::size_t bytes = 0;
  for (const api::ObjectPtr& item : list.items) bytes += item->bytes().size();
  return bytes;
}

ListResponse::ListResponse(api::Answer answer, Options options, Holds holds)
    : answer_(std::move(answer)),
      options_(std::move(options)),
      holds_(std::move(holds)),
      bytes_of_objects_(bytes_of(list())),
      expected_(holds_.expected.amount()),
      text_(options_.rendering, list(), options_.now),
      may_pack_(options_.packs) {
  // Objects are written nearly as they are stored.
  constexpr std::size_t kMoreEach = 64;
  if (options_.rendering.form == Form::Full && !options_.indents && !options_.packs)
    body_.reserve(expected_ + (list().items.size() + 4) * kMoreEach);
  count_bytes();
}

bool ListResponse::write_some() {
  std::string piece;
  const bool more = text_.write_some(kPieceBytes, piece);
  if (options_.indents) {
    std::string indented;
    indenter_.add(piece, indented);
    piece = std::move(indented);
  }
  if (!more) piece += '\n';
  append(piece);
  if (!more && gzip_) gzip_->end(body_);
  count_bytes();
  return more;
}

void ListResponse::append(std::string& piece) {
  if (gzip_) {
    gzip_->add(piece, body_);
    return;
  }
  body_ += piece;
  if (!may_pack_ || body_.size() <= kGzipBytesMin) return;
  gzip_ = Gzip::begin();
  may_pack_ = gzip_ != nullptr;  // asked once
  if (gzip_) gzip_->add(std::exchange(body_, {}), body_);
}

void ListResponse::count_bytes() {
  holds_.written.resize(body_.capacity() + list().items.capacity() * sizeof(api::ObjectPtr));
  holds_.expected.resize(expected_ - std::min(expected_, body_.capacity()));
}

HttpResponse ListResponse::response() {
  HttpResponse out;
  out.body = std::move(body_);
  out.large = std::move(holds_.large);
  for (std::string& value : warning_headers(answer_.warnings))
    out.headers.emplace_back("Warning", std::move(value));
  if (gzip_) set_packed(out);
  return out;
}

}  // namespace muster::server
