#include "api/values/label_selector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "api/values/names.h"

namespace muster::api {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
constexpr std::string_view kSymbols = "=!(),><";

std::optional<std::int64_t> to_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string joined(const Messages& messages) {
  return fmt::format("{}", fmt::join(messages, "; "));
}

// What is wrong with a requirement, as upstream aggregates field errors.
std::vector<std::string> problems(const std::string& key, LabelOperator op,
                                  const std::vector<std::string>& values) {
  std::vector<std::string> found;
  if (const Messages messages = check_qualified_name(key); !messages.empty())
    found.push_back(fmt::format("key: Invalid value: \"{}\": {}", key, joined(messages)));
  switch (op) {
    case LabelOperator::In:
    case LabelOperator::NotIn:
      if (values.empty())
        found.emplace_back(
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
      break;
    case LabelOperator::Equals:
    case LabelOperator::DoubleEquals:
    case LabelOperator::NotEquals:
      if (values.size() != 1)
        found.emplace_back(
            "values: Invalid value: []: exact-match compatibility requires one single value");
      break;
    case LabelOperator::Exists:
    case LabelOperator::DoesNotExist:
      if (!values.empty())
        found.emplace_back(
            "values: Invalid value: []: values set must be empty for exists and does not exist");
      break;
    case LabelOperator::GreaterThan:
    case LabelOperator::LessThan:
      if (values.size() != 1)
        found.emplace_back(
            "values: Invalid value: []: for 'Gt', 'Lt' operators, exactly one value is required");
      else if (!to_integer(values.front()))
        found.push_back(fmt::format(
            "values[0]: Invalid value: \"{}\": for 'Gt', 'Lt' operators, the value must "
            "be an integer",
            values.front()));
      break;
  }
  constexpr std::size_t kNamed = 100;
  for (std::size_t i = 0; i < values.size() && found.size() < kNamed; ++i)
    if (const Messages messages = check_label_value(values[i]); !messages.empty())
      found.push_back(fmt::format("values[{}][{}]: Invalid value: \"{}\": {}", i, key, values[i],
                                  joined(messages)));
  return found;
}

enum class TokenKind : std::uint8_t { Word, In, NotIn, Symbol, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;

  bool is(std::string_view symbol) const { return kind == TokenKind::Symbol && text == symbol; }
  // Except where an operator is expected, "in" and "notin" are words like others.
  bool is_word() const {
    return kind == TokenKind::Word || kind == TokenKind::In || kind == TokenKind::NotIn;
  }
};

// Reads a query from left to right, one token ahead.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) { advance(); }

  Result<LabelSelector> parse() {
    std::vector<LabelRequirement> requirements;
    while (next_.kind != TokenKind::End) {
      if (!next_.is_word() && !next_.is("!"))
        return expected("found '{}', expected: !, identifier, or 'end of string'");
      Result<LabelRequirement> requirement = parse_requirement();
      if (!requirement)
        return fail(Reason::BadRequest, "unable to parse requirement: {}",
                    requirement.error().message);
      requirements.push_back(*std::move(requirement));
      if (next_.kind == TokenKind::End) break;
      if (!next_.is(",")) return expected("found '{}', expected: ',' or 'end of string'");
      advance();
      if (!next_.is_word() && !next_.is("!"))
        return expected("found '{}', expected: identifier after ','");
    }
    return LabelSelector(std::move(requirements));
  }

 private:
  void advance() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kWhiteSpace), rest_.size()));
    if (rest_.empty()) {
      next_ = Token{};
      return;
    }
    std::size_t length = 1;
    if (kSymbols.find(rest_.front()) != std::string_view::npos) {
      if (rest_.starts_with("==") || rest_.starts_with("!=")) length = 2;
      next_ = Token{TokenKind::Symbol, rest_.substr(0, length)};
    } else {
      length = std::min(rest_.find_first_of(" \t\r\n=!(),><"), rest_.size());
      const std::string_view word = rest_.substr(0, length);
      next_ = Token{word == "in"      ? TokenKind::In
                    : word == "notin" ? TokenKind::NotIn
                                      : TokenKind::Word,
                    word};
    }
    rest_.remove_prefix(length);
  }

  tl::unexpected<Error> expected(fmt::format_string<std::string_view&> format) {
    return fail(Reason::BadRequest, format, next_.text);
  }

  Result<LabelRequirement> parse_requirement() {
    const bool negated = next_.is("!");
    if (negated) advance();
    if (!next_.is_word()) return expected("found '{}', expected: identifier");
    std::string key(next_.text);
    if (const Messages messages = check_qualified_name(key); !messages.empty())
      return fail(Reason::BadRequest, "key: Invalid value: \"{}\": {}", key, joined(messages));
    advance();
    if (negated) return LabelRequirement::make(std::move(key), LabelOperator::DoesNotExist, {});
    if (next_.kind == TokenKind::End || next_.is(","))
      return LabelRequirement::make(std::move(key), LabelOperator::Exists, {});
    const LabelOperator op = TRY(parse_operator());
    const bool takes_set = op == LabelOperator::In || op == LabelOperator::NotIn;
    std::vector<std::string> values = TRY(takes_set ? parse_set() : parse_value());
    return LabelRequirement::make(std::move(key), op, std::move(values));
  }

  Result<LabelOperator> parse_operator() {
    struct Known {
      std::string_view text;
      LabelOperator op;
    };
    static constexpr Known kKnown[] = {
        {"in", LabelOperator::In},        {"notin", LabelOperator::NotIn},
        {"=", LabelOperator::Equals},     {"==", LabelOperator::DoubleEquals},
        {"!=", LabelOperator::NotEquals}, {">", LabelOperator::GreaterThan},
        {"<", LabelOperator::LessThan},
    };
    for (const Known& known : kKnown)
      if (next_.kind != TokenKind::Word && next_.text == known.text) {
        advance();
        return known.op;
      }
    return expected("found '{}', expected: in, notin, =, ==, !=, gt, lt");
  }

  // "(a,b)"; a missing element is the empty value, as in "(,a)" and in "()".
  Result<std::vector<std::string>> parse_set() {
    if (!next_.is("(")) return expected("found '{}' expected: '('");
    advance();
    std::vector<std::string> values;
    if (next_.is(")")) {
      advance();
      values.emplace_back();
      return values;
    }
    if (!next_.is_word() && !next_.is(","))
      return expected("found '{}', expected: ',', ')' or identifier");
    while (true) {
      if (next_.is_word()) {
        values.emplace_back(next_.text);
        advance();
        if (!next_.is(",") && !next_.is(")")) return expected("found '{}', expected: ',' or ')'");
      } else {
        values.emplace_back();
      }
      if (next_.is(")")) break;
      if (!next_.is(",")) return expected("found '{}', expected: ',', or identifier");
      advance();
    }
    advance();
    return values;
  }

  Result<std::vector<std::string>> parse_value() {
    if (next_.kind == TokenKind::End || next_.is(",")) return std::vector<std::string>{""};
    if (!next_.is_word()) return expected("found '{}', expected: identifier");
    std::vector<std::string> values{std::string(next_.text)};
    advance();
    return values;
  }

  std::string_view rest_;
  Token next_;
};

}  // namespace

std::optional<LabelOperator> label_operator_named(std::string_view name) {
  if (name == "In") return LabelOperator::In;
  if (name == "NotIn") return LabelOperator::NotIn;
  if (name == "Exists") return LabelOperator::Exists;
  if (name == "DoesNotExist") return LabelOperator::DoesNotExist;
  if (name == "Gt") return LabelOperator::GreaterThan;
  if (name == "Lt") return LabelOperator::LessThan;
  return std::nullopt;
}

Result<LabelRequirement> LabelRequirement::make(std::string key, LabelOperator op,
                                                std::vector<std::string> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  const std::vector<std::string> found = problems(key, op, values);
  if (found.size() == 1) return fail(Reason::BadRequest, "{}", found.front());
  if (!found.empty()) return fail(Reason::BadRequest, "[{}]", fmt::join(found, ", "));
  LabelRequirement requirement(std::move(key), op, std::move(values));
  if (op == LabelOperator::GreaterThan || op == LabelOperator::LessThan)
    requirement.bound_ = *to_integer(requirement.values_.front());
  return requirement;
}

bool LabelRequirement::matches(const StringPairs& labels) const {
  const std::string* value = lookup(labels, key_);
  switch (op_) {
    case LabelOperator::In:
    case LabelOperator::Equals:
    case LabelOperator::DoubleEquals:
      return value != nullptr && std::ranges::binary_search(values_, *value);
    case LabelOperator::NotIn:
    case LabelOperator::NotEquals:
      return value == nullptr || !std::ranges::binary_search(values_, *value);
    case LabelOperator::Exists: return value != nullptr;
    case LabelOperator::DoesNotExist: return value == nullptr;
    case LabelOperator::GreaterThan:
    case LabelOperator::LessThan: {
      const std::optional<std::int64_t> number =
          value == nullptr ? std::nullopt : to_integer(*value);
      if (!number) return false;
      return op_ == LabelOperator::GreaterThan ? *number > bound_ : *number < bound_;
    }
  }
  return false;
}

std::string LabelRequirement::text() const {
  const auto with = [this](std::string_view sign) {
    return fmt::format("{}{}{}", key_, sign, values_.front());
  };
  switch (op_) {
    case LabelOperator::In: return fmt::format("{} in ({})", key_, fmt::join(values_, ","));
    case LabelOperator::NotIn: return fmt::format("{} notin ({})", key_, fmt::join(values_, ","));
    case LabelOperator::Exists: return key_;
    case LabelOperator::DoesNotExist: return "!" + key_;
    case LabelOperator::Equals: return with("=");
    case LabelOperator::DoubleEquals: return with("==");
    case LabelOperator::NotEquals: return with("!=");
    case LabelOperator::GreaterThan: return with(">");
    case LabelOperator::LessThan: return with("<");
  }
  return {};
}

LabelSelector LabelSelector::nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) { return Parser(text).parse(); }

LabelSelector::LabelSelector(std::vector<LabelRequirement> requirements)
    : requirements_(std::move(requirements)) {
  std::ranges::stable_sort(requirements_, {}, &LabelRequirement::key);
}

bool LabelSelector::matches(const StringPairs& labels) const {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const LabelRequirement& requirement) {
    return requirement.matches(labels);
  });
}

std::string LabelSelector::text() const {
  std::string text;
  for (const LabelRequirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.text();
  }
  return text;
}

}  // namespace muster::api
