#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace muster::loader {

// Reads HTTP/1.1 responses from the bytes of one connection, one after the other. A body is kept
// whole, or handed out line by line if it is a watch.
class ResponseReader {
 public:
  // What a fed piece of input has led to.
  enum class State { NeedsMore, HeadDone, Done, Broken };
  using Line = std::function<void(std::string_view line)>;

  // Starts the next response. `line`, if any, gets the lines of the body of a success.
  void begin(const Line* line);
  // Takes bytes; stops behind a response, what follows waits for the next begin().
  State feed(std::string_view bytes);

  int code() const { return code_; }
  std::string_view body() const { return body_; }
  std::size_t body_bytes() const { return body_bytes_; }
  bool closes() const { return closes_; }
  bool head_done() const { return phase_ != Phase::Head; }

 private:
  enum class Phase { Head, Length, ChunkSize, Chunk, ChunkEnd, Trailer, Done };
  bool parse_head(std::string_view head);
  void append_body(std::string_view bytes);
  bool parse_chunk_size(std::string_view line);

  const Line* line_ = nullptr;
  Phase phase_ = Phase::Head;
  int code_ = 0;
  bool closes_ = false;
  bool chunked_ = false;
  std::size_t left_ = 0;  // of the body or the chunk
  std::string text_;      // a head, chunk size or trailer that is not whole yet
  std::string body_;      // the body; for a watch, the line that is not whole yet
  std::size_t body_bytes_ = 0;
};

}  // namespace muster::loader
