#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::api {

// Text that grows by many small pieces: like std::string, without its cost per byte. It keeps its
// memory, so one that is reused stops allocating.
class TextBuffer {
 public:
  void put(char byte) {
    if (size_ == bytes_.size()) grow(1);
    bytes_[size_++] = byte;
  }
  void put(std::string_view text) {
    if (text.empty()) return;  // perhaps of no memory at all
    if (bytes_.size() - size_ < text.size()) grow(text.size());
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }

  std::size_t size() const { return size_; }
  // Drops what follows; `size` is at most the current one.
  void cut(std::size_t size) { size_ = size; }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  void grow(std::size_t more) { bytes_.resize((bytes_.size() + more) * 2); }

  std::vector<char> bytes_ = std::vector<char>(4096);
  std::size_t size_ = 0;
};

// As in json.h.
void write_json(const Json& value, TextBuffer& out);
void write_string(std::string_view text, TextBuffer& out);

}  // namespace muster::api
