#include "sim/scenario/line.h"

#include <charconv>

namespace muster::sim {
namespace {

constexpr std::string_view kBlanks = " \r";

// The line up to its comment: a # that begins a word.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || line[at - 1] == ' ') return line.substr(0, at);
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

struct Open {  // a list of lines that may still grow, and how far its lines are indented
  std::vector<Line>* lines;
  std::size_t indent;
};

}  // namespace

Result<std::vector<Line>> read_lines(std::string_view text) {
  std::vector<Line> roots;
  std::vector<Open> open{{&roots, 0}};
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view said = trimmed(raw);
    if (said.empty()) continue;
    Line line{.number = number, .text = std::string(said), .words = split_words(said), .below = {}};
    if (raw.find('\t') != std::string_view::npos)
      return fail_at(line, "indent with spaces, not with tabs");
    const std::size_t indent = raw.find_first_not_of(' ');
    while (indent < open.back().indent) open.pop_back();
    if (indent > open.back().indent) {
      if (open.back().lines->empty()) return fail_at(line, "the first line must not be indented");
      open.push_back({&open.back().lines->back().below, indent});
      if (!open.back().lines->empty()) return fail_at(line, "indented unlike the lines beside it");
    }
    open.back().lines->push_back(std::move(line));
  }
  return roots;
}

Result<std::string> Words::need(std::string_view what) {
  if (done()) return fail_at(line_, "`{}` ends where {} is expected", line_.text, what);
  return std::string(next());
}

Result<int> Words::need_number(std::string_view what) {
  const std::string word = TRY(need(what));
  return read_number(line_, word);
}

Result<void> Words::end() const {
  if (!done()) return fail_at(line_, "`{}` is too much in `{}`", peek(), line_.text);
  return {};
}

Setting read_setting(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

Result<int> read_number(const Line& line, std::string_view word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size())
    return fail_at(line, "{} is no whole number", word);
  return number;
}

}  // namespace muster::sim
