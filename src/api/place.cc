#include "api/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/budget.h"

namespace muster::api {
namespace {

// Appends a part of a path, or as much of it as still has room.
void put_part(std::string_view part, std::string& out) {
  if (!out.empty()) out += '.';
  const std::size_t room = kLimits.path_bytes - std::min(out.size(), kLimits.path_bytes);
  out += cut_utf8(part, room);
  if (part.size() > room) out += "...";
}

bool is_full(const std::string& out) { return out.size() >= kLimits.path_bytes; }

}  // namespace

void Place::write(std::string& out) const {
  if (up == nullptr) return;
  up->write(out);
  if (is_full(out)) return;
  if (item)
    fmt::format_to(std::back_inserter(out), "[{}]", *item);
  else
    put_part(field.empty() ? key : field, out);
}

void Place::write_fields(std::string& out) const {
  if (up == nullptr) return;
  up->write_fields(out);
  if (!field.empty() && !is_full(out)) put_part(field, out);
}

std::string Place::path() const {
  std::string out;
  write(out);
  return out;
}

std::string Place::field_path() const {
  std::string out;
  write_fields(out);
  return out;
}

}  // namespace muster::api
