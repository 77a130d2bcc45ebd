#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "api/request.h"
#include "base/time.h"
#include "server/http/client_ledger.h"
#include "server/http/compress.h"
#include "server/http/message.h"
#include "server/http/render.h"

namespace muster::server {

// A list that is turned into a response: written, indented and packed a piece at a time, so that no
// client waits for the whole list of another. Of a packed list only the packed bytes are kept.
class ListResponse {
 public:
  struct Options {
    Rendering rendering;
    Time now;  // for ages in Tables
    bool indents = false;
    bool packs = false;  // if it is large enough
  };
  // What it holds of the ledger: what is written, for all; and what is going to be, for its client.
  struct Holds {
    Hold written;
    Hold expected;
    std::shared_ptr<void> large = nullptr;  // HttpResponse::large
    std::shared_ptr<void> place = nullptr;  // of a list that takes long
  };
  ListResponse(api::Answer answer, Options options, Holds holds);
  ListResponse(const ListResponse&) = delete;
  ListResponse& operator=(const ListResponse&) = delete;

  // Writes the next piece. False at the end of the list.
  bool write_some();
  std::size_t bytes() const { return body_.size(); }
  std::size_t bytes_of_objects() const { return bytes_of_objects_; }
  Holds& holds() { return holds_; }
  // As far as it depends on the list. Call at the end, once.
  HttpResponse response();

 private:
  const api::ListAnswer& list() const { return std::get<api::ListAnswer>(answer_.what); }
  void append(std::string& piece);
  void count_bytes();

  const api::Answer answer_;
  const Options options_;
  Holds holds_;
  const std::size_t bytes_of_objects_;
  const std::size_t expected_;
  ListText text_;
  Indenter indenter_;
  std::unique_ptr<Gzip> gzip_;  // once it packs
  bool may_pack_;
  std::string body_;
};

// Bytes of the objects of a list.
std::size_t bytes_of(const api::ListAnswer& list);

}  // namespace muster::server
