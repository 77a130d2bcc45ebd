#include "api/json_error.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

namespace muster::api {
namespace {

std::string quoted(char c) {
  switch (c) {
    case '\'': return R"('\'')";
    case '\n': return R"('\n')";
    case '\r': return R"('\r')";
    case '\t': return R"('\t')";
    case '\\': return R"('\\')";
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte >= 0x7f) return fmt::format("'\\x{:02x}'", byte);
  return fmt::format("'{}'", c);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Walks the text once, without recursion: the nesting is a stack of '{' and '['.
class SyntaxWalk {
 public:
  explicit SyntaxWalk(std::string_view text) : text_(text) {}

  std::optional<std::string> run() {
    do {
      value_start();
    } while (!error_ && after_value());
    return error_;
  }

 private:
  bool fail_at(std::string_view where) {
    if (!error_)
      error_ = at_ < text_.size()
                   ? fmt::format("invalid character {} {}", quoted(text_[at_]), where)
                   : std::string("unexpected end of JSON input");
    return false;
  }
  bool more() const { return at_ < text_.size(); }
  bool at(char c) const { return more() && text_[at_] == c; }
  void skip_blanks() {
    while (more() && (at(' ') || at('\t') || at('\n') || at('\r'))) ++at_;
  }

  // Enters containers until a scalar or an empty container has been passed.
  void value_start() {
    while (true) {
      skip_blanks();
      if (at('{')) {
        ++at_;
        skip_blanks();
        if (at('}')) {
          ++at_;
          return;
        }
        open_.push_back('{');
        if (!key()) return;
      } else if (at('[')) {
        ++at_;
        skip_blanks();
        if (at(']')) {
          ++at_;
          return;
        }
        open_.push_back('[');
      } else {
        scalar();
        return;
      }
    }
  }

  bool key() {
    skip_blanks();
    if (!at('"')) return fail_at("looking for beginning of object key string");
    if (!string()) return false;
    skip_blanks();
    if (!at(':')) return fail_at("after object key");
    ++at_;
    return true;
  }

  // True if another value must follow.
  bool after_value() {
    while (true) {
      skip_blanks();
      if (open_.empty()) {
        if (more()) fail_at("after top-level value");
        return false;
      }
      const bool in_object = open_.back() == '{';
      if (at(',')) {
        ++at_;
        return !in_object || key();
      }
      if (!at(in_object ? '}' : ']'))
        return fail_at(in_object ? "after object key:value pair" : "after array element");
      ++at_;
      open_.pop_back();
    }
  }

  bool scalar() {
    if (at('"')) return string();
    if (at('-') || (more() && is_digit(text_[at_]))) return number();
    for (const std::string_view literal : {"true", "false", "null"})
      if (at(literal[0])) return word(literal);
    return fail_at("looking for beginning of value");
  }

  bool word(std::string_view literal) {
    for (std::size_t i = 0; i < literal.size(); ++i, ++at_)
      if (!at(literal[i]))
        return fail_at(fmt::format("in literal {} (expecting '{}')", literal, literal[i]));
    return true;
  }

  bool string() {
    for (++at_; more(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail_at("in string literal");
      if (c == '\\' && !escape()) return false;
    }
    return fail_at("");
  }

  // Leaves at_ on the last character of the escape.
  bool escape() {
    ++at_;
    if (!at('u')) {
      if (more() && std::string_view("\"\\/bfnrt").find(text_[at_]) != std::string_view::npos)
        return true;
      return fail_at("in string escape code");
    }
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (!more() || !is_hex(text_[at_])) return fail_at("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool digits(std::string_view where) {
    if (!more() || !is_digit(text_[at_])) return fail_at(where);
    while (more() && is_digit(text_[at_])) ++at_;
    return true;
  }

  bool number() {
    if (at('-')) ++at_;
    if (at('0'))
      ++at_;
    else if (!digits("in numeric literal"))
      return false;
    if (at('.')) {
      ++at_;
      if (!digits("after decimal point in numeric literal")) return false;
    }
    if (at('e') || at('E')) {
      ++at_;
      if (at('+') || at('-')) ++at_;
      if (!digits("in exponent of numeric literal")) return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<char> open_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> json_syntax_error(std::string_view text) {
  return SyntaxWalk(text).run();
}

}  // namespace muster::api
