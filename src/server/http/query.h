#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::server {

// Undoes percent-encoding; nullopt if a % is not followed by two hex digits. In a query `+` is a
// blank.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_blank);

// The parameters of a URL, decoded. Malformed pairs are dropped, as in Go.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);

  // The first value of `key`, or null.
  const std::string* find(std::string_view key) const;
  std::string text(std::string_view key) const;  // "" if absent
  std::vector<std::string> all(std::string_view key) const;
  // A boolean by Kubernetes' rule: absent, "false" and "0" are false, anything else is true.
  bool flag(std::string_view key) const;
  // The memory it takes: a pair of two bytes is thirty times as large there.
  std::size_t held_bytes() const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace muster::server
