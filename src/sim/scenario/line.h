#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster::sim {

// One line of a scenario in words, with the lines that are indented below it.
struct Line {
  int number = 0;
  std::string text;  // without indentation and comment
  std::vector<std::string> words;
  std::vector<Line> below;
};

// The lines of a text as a tree. A # at the start of a word begins a comment.
Result<std::vector<Line>> read_lines(std::string_view text);

// "12: what is wrong": errors carry their line, the front door puts the file before it.
template <typename... Args>
tl::unexpected<Error> fail_at(const Line& line, fmt::format_string<Args...> format,
                              Args&&... args) {
  return fail(Reason::Invalid, "{}: {}", line.number,
              fmt::format(format, std::forward<Args>(args)...));
}

// Reads the words of a line from left to right.
class Words {
 public:
  explicit Words(const Line& line, std::size_t from = 0) : line_(line), at_(from) {}

  bool done() const { return at_ >= line_.words.size(); }
  // "" at the end.
  std::string_view peek() const {
    return done() ? std::string_view() : std::string_view(line_.words[at_]);
  }
  std::string_view next() { return done() ? std::string_view() : line_.words[at_++]; }
  // Goes past the next word if it is this one.
  bool next_if(std::string_view word) {
    if (peek() != word) return false;
    ++at_;
    return true;
  }
  // The next word, which must exist; `what` says what it means.
  Result<std::string> need(std::string_view what);
  Result<int> need_number(std::string_view what);
  // No word must be left.
  Result<void> end() const;
  const Line& line() const { return line_; }

 private:
  const Line& line_;
  std::size_t at_;
};

struct Setting {
  std::string_view name;
  std::string_view value;
};
// "gpu=8", "taint=a=b:NoSchedule": cut at the first =. An empty name: not a setting.
Setting read_setting(std::string_view word);

Result<int> read_number(const Line& line, std::string_view word);

}  // namespace muster::sim
