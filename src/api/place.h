#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::api {

// Where in a document we are. A chain on the stack, one link per level, written out only when there
// is something to report: a document without faults costs no text.
struct Place {
  const Place* up = nullptr;                       // null at the root
  std::string_view field = {};                     // of a message
  std::string_view key = {};                       // of a map
  std::optional<std::size_t> item = std::nullopt;  // of a list

  // "spec.containers[0].image", cut where it gets too long to be read.
  std::string path() const;
  // "spec.containers.image", the way Go names a struct field.
  std::string field_path() const;

 private:
  void write(std::string& out) const;
  void write_fields(std::string& out) const;
};

}  // namespace muster::api
