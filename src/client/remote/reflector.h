#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/request.h"
#include "base/entropy.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "client/https/call.h"
#include "client/known_objects.h"
#include "client/remote/backoff.h"
#include "client/remote/stream_pieces.h"

namespace muster::client {

// Follows all objects of a kind on a server: lists, watches, and heals itself after every kind of
// failure. A state machine without I/O: it says which request to make next and gets what arrives.
//
//   Streaming (a watch that begins with what exists) ──▶ Watching ──▶ ended: Watching from there
//       │ the server cannot                                 │ expired, or anything odd
//       ▼                                                   ▼
//   Listing, page by page ──▶ Watching                  Streaming
class Reflector {
 public:
  struct Target {
    const api::Kind* kind = nullptr;
    std::string version;  // the one the server serves
    Projection project = {};
    Maker make = {};
  };
  using Report = KnownObjects::Report;

  Reflector(Target target, Entropy& entropy, Report report);

  // The request to make now, if any: a Watch is a stream, a List is not. After it, on_end() must
  // come before the next.
  std::optional<api::Request> next(Time now);
  // The media types it understands, as an Accept header; empty: JSON.
  std::string_view accept() const;
  // When to ask next() again; nullopt while a request is under way.
  std::optional<Time> next_deadline() const;
  // Takes a part of a stream, perhaps an empty one. False: it cannot be read, so end the stream.
  bool on_bytes(std::string_view bytes);
  void on_end(const Result<HttpReply>& reply, Time now);
  // The server has answered another request. If it was unreachable until now, this cuts the pause
  // short, down to a random delay that keeps reflectors from asking all at once.
  void on_reachable(Time now);

  // Everything that existed at the start has been reported.
  bool synced() const { return synced_; }
  // What keeps it from being synced, or from receiving changes; empty if nothing does.
  const std::string& trouble() const { return trouble_; }
  // Since when the server has said that it knows no such kind; nullopt if it does not say so.
  std::optional<Time> unknown_since() const { return unknown_since_; }
  std::vector<api::ObjectPtr> objects() const { return known_.all(); }
  const Target& target() const { return target_; }

 private:
  enum class Phase : std::uint8_t { Streaming, Listing, Watching };

  api::Request list_request() const;
  api::Request watch_request();
  Result<void> on_piece(std::string_view piece);
  void on_object(std::string_view type, api::Json& object, bool is_decoded);
  void on_bookmark(const api::Json& object);

  // What a page of a list says besides its objects.
  struct Page {
    std::optional<std::int64_t> revision = {};
    std::string continue_token = {};
  };
  Result<void> on_page(const HttpReply& reply);
  Result<Page> read_json_page(std::string_view body);
  Result<Page> read_protobuf_page(std::string_view body);
  Result<void> end_page(const Page& page);
  void on_stream_end(Time now);
  void on_failure(const Error& error, Time now);
  Duration spread();
  void start_over(Phase phase);
  void listed();

  const Target target_;
  const std::span<const api::Kept> kept_;
  Entropy& entropy_;
  KnownObjects known_;
  Backoff backoff_;
  bool asks_protobuf_;  // until one arrives that makes no sense
  Phase phase_ = Phase::Streaming;
  bool fresh_ = true;  // nothing of this listing has come yet
  bool under_way_ = false;
  bool synced_ = false;
  Time not_before_ = Time::min();
  Time started_;              // the request that is under way
  std::uint64_t events_ = 0;  // of the stream that is under way
  StreamPieces pieces_;       // of it
  std::optional<Error> stream_error_;
  std::string continue_token_;
  std::optional<std::int64_t> revision_;  // of all we know; none: begin with the newest
  bool in_one_piece_ = false;             // a list in pages expired
  std::string trouble_;
  bool unreachable_ = false;  // the last request was not answered at all
  std::optional<Time> unknown_since_;
};

}  // namespace muster::client
