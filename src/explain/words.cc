#include "explain/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/quantity.h"

namespace muster::explain {

std::string_view word_of(std::string_view topology_key) {
  const auto slash = topology_key.rfind('/');
  return slash == std::string_view::npos ? topology_key : topology_key.substr(slash + 1);
}

std::string_view domain_word(const Level& level) {
  return level.generators.empty() ? word_of(level.topology_key) : "placement";
}

std::string_view without_full_stop(std::string_view message) {
  if (message.ends_with('.')) message.remove_suffix(1);
  return message;
}

std::string asks_for(const api::PodNeeds& needs) {
  using api::Quantity;
  std::string text;
  const auto add = [&](std::string_view resource, const std::string& amount) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", resource, amount);
  };
  const api::Amounts& requests = needs.requests;
  if (requests.cpu_milli > 0) add("cpu", Quantity::of_milli(requests.cpu_milli).text());
  const auto bytes = [](std::int64_t amount) {
    return Quantity::of_units(amount, Quantity::Format::BinarySI).text();
  };
  if (requests.memory > 0) add("memory", bytes(requests.memory));
  if (requests.ephemeral_storage > 0) add("ephemeral-storage", bytes(requests.ephemeral_storage));
  for (const auto& [resource, amount] : requests.scalars)
    if (amount > 0)
      add(resource, resource.starts_with("hugepages-") ? bytes(amount) : std::to_string(amount));
  return text.empty() ? "nothing" : text;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t have = width_of(text);
  if (have < width) text.append(width - have, ' ');
  return text;
}

namespace {

// Blanks and guides at the beginning of a line, and two places more below the mark of a list.
std::string indent_of(std::string_view line) {
  constexpr std::string_view kGuide = "│";
  std::string indent;
  while (!line.empty()) {
    const std::string_view next = line.starts_with(kGuide) ? kGuide : line.substr(0, 1);
    if (next != kGuide && next != " ") break;
    indent += next;
    line.remove_prefix(next.size());
  }
  return line.starts_with("- ") ? indent + "  " : indent;
}

// Where the line must end to have at most `width` columns; npos: it has no more.
std::size_t end_within(std::string_view line, std::size_t indent, std::size_t width) {
  if (width_of(line) <= width) return std::string_view::npos;
  std::size_t columns = 0;
  std::size_t last_blank = std::string_view::npos;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if ((line[at] & 0xC0) == 0x80) continue;
    if (columns > width) break;
    if (line[at] == ' ' && at > indent) last_blank = at;
    ++columns;
  }
  return last_blank;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string indent = indent_of(line);
    const bool stays = width == 0 || line.find("kubectl ") == indent.size() ||
                       line.find("─ ") != std::string::npos;
    for (std::size_t cut = std::string::npos;
         !stays && (cut = end_within(line, indent.size(), width)) != std::string::npos;) {
      out.append(line, 0, cut).push_back('\n');
      line.replace(0, cut + 1, indent);
    }
    out += line;
    out += '\n';
  }
  return out;
}

std::vector<std::string> branches(std::span<const std::size_t> depths) {
  std::vector<std::string> lines(depths.size());
  std::vector<bool> goes_on;  // by depth: a later sibling follows
  for (std::size_t at = depths.size(); at-- > 0;) {
    const std::size_t depth = depths[at];
    goes_on.resize(depth + 1);
    if (depth == 0) continue;
    for (std::size_t above = 1; above < depth; ++above) lines[at] += goes_on[above] ? "│  " : "   ";
    lines[at] += goes_on[depth] ? "├─ " : "└─ ";
    goes_on[depth] = true;
  }
  return lines;
}

bool counts_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view digits = text.substr(at, end - at);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return std::pair(digits.size(), digits);
  };
  // A number begins where both have one and nothing before it differs.
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const bool starts = i == 0 || !is_digit(a[i - 1]);
    if (starts && is_digit(a[i]) && is_digit(b[i])) {
      const auto left = number_at(a, i);
      const auto right = number_at(b, i);
      if (left != right) return left < right;
    }
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return a.size() < b.size();
}

std::string_view kind_word(scheduler::GroupKind kind) {
  return kind == scheduler::GroupKind::PodGroup ? "PodGroup" : "CompositePodGroup";
}

std::string name_of(const scheduler::GroupKey& key) {
  return fmt::format("{} {}/{}",
                     key.kind == scheduler::GroupKind::PodGroup ? "podgroup" : "compositepodgroup",
                     key.name_space, key.name);
}

std::string_view minimum_field(scheduler::GroupKind kind) {
  return kind == scheduler::GroupKind::PodGroup ? "minCount" : "minGroupCount";
}

std::string_view state_word(State state) {
  switch (state) {
    case State::Scheduled: return "scheduled";
    case State::FitsNow: return "fits now";
    case State::BehindOthers: return "behind others";
    case State::Unschedulable: return "unschedulable";
    case State::Unresolved: return "unresolved";
    case State::WaitsByPreference: return "waits by preference";
    case State::Missing: return "missing";
    case State::BelowMinimum: return "below minimum";
    case State::Gated: return "gated";
    case State::Held: return "held";
    case State::Invalid: return "invalid";
    case State::Terminating: return "terminating";
  }
  return "";
}

std::string_view state_name(State state) {
  switch (state) {
    case State::Scheduled: return "Scheduled";
    case State::FitsNow: return "FitsNow";
    case State::BehindOthers: return "BehindOthers";
    case State::Unschedulable: return "Unschedulable";
    case State::Unresolved: return "Unresolved";
    case State::WaitsByPreference: return "WaitsByPreference";
    case State::Missing: return "Missing";
    case State::BelowMinimum: return "BelowMinimum";
    case State::Gated: return "Gated";
    case State::Held: return "Held";
    case State::Invalid: return "Invalid";
    case State::Terminating: return "Terminating";
  }
  return "";
}

std::string_view relaxation_name(RelaxationKind kind) {
  switch (kind) {
    case RelaxationKind::SmallerMinimum: return "SmallerMinimum";
    case RelaxationKind::WiderTopology: return "WiderTopology";
    case RelaxationKind::NoTopology: return "NoTopology";
    case RelaxationKind::LabelNodes: return "LabelNodes";
    case RelaxationKind::NoPlacements: return "NoPlacements";
    case RelaxationKind::MoreNodes: return "MoreNodes";
    case RelaxationKind::Uncordon: return "Uncordon";
    case RelaxationKind::Untaint: return "Untaint";
    case RelaxationKind::OthersFinish: return "OthersFinish";
    case RelaxationKind::ShorterWait: return "ShorterWait";
  }
  return "";
}

}  // namespace muster::explain
