#include "sim/scenario/subject_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "api/views/pod_view.h"
#include "sim/scenario/node_line.h"
#include "sim/scenario/observation.h"

namespace muster::sim {
namespace {

constexpr std::string_view kForms =
    "X placed, X placed N of M, X placed in rack NAME, X placed on NODES, X waits, X waits: TEXT, "
    "X waits because TEXT, X waits for Node, X says once: TEXT, X condition REASON, X no "
    "condition, X event REASON: "
    "TEXT, X no event, X nominated on NODE, X running, X ended, X gated, X terminating, X gone, X "
    "attempts N, "
    "attempts N, steps at most N, nobody placed, queue PLACE=N, node N uses cpu=1, node N holds "
    "PODS, node N empty";

Unmet unless(bool holds, const Stage& stage, const Cast::Subject& subject) {
  if (holds) return std::nullopt;
  return describe(stage, subject);
}

// The text behind the first ": " of the line; empty if there is none.
std::string text_behind_colon(const Line& line) {
  const std::size_t colon = line.text.find(": ");
  if (colon == std::string::npos) return {};
  return line.text.substr(line.text.find_first_not_of(' ', colon + 1));
}

// --- placed ---

struct PlacedSpec {
  std::optional<int> placed, of;
  std::vector<std::pair<std::string, std::string>> domains;  // label key, value
  std::set<std::string> nodes;
};

Result<Check> read_placed(const Line& line, Words words) {
  PlacedSpec spec;
  if (!words.done() && words.peek() != "in" && words.peek() != "on") {
    spec.placed = TRY(words.need_number("how many are placed"));
    if (words.next_if("of")) spec.of = TRY(words.need_number("how many there are"));
  }
  if (words.next_if("in")) {
    do {
      const std::string level = TRY(words.need("a level such as rack"));
      spec.domains.emplace_back(label_key(level), TRY(words.need("the name of a domain")));
    } while (!words.done() && words.peek() != "on");
  }
  if (words.next_if("on")) {
    do {
      const std::string pattern = TRY(words.need("the name of a node"));
      for (std::string& name : TRY(expand_range(line, pattern))) spec.nodes.insert(std::move(name));
    } while (!words.done());
  }
  TRY(words.end());
  return [spec](const Stage& stage, const Cast::Subject& subject) {
    const Observation seen = observe(stage, subject);
    bool holds = seen.placed == spec.placed.value_or(seen.pods) && seen.placed > 0 &&
                 seen.pods == spec.of.value_or(seen.pods);
    for (const auto& [node, count] : seen.nodes)
      for (const auto& [key, value] : spec.domains) holds &= stage.domain_of(node, key) == value;
    if (!spec.nodes.empty()) {
      std::set<std::string> nodes;
      for (const auto& [node, count] : seen.nodes) nodes.insert(node);
      holds &= nodes == spec.nodes;
    }
    return unless(holds, stage, subject);
  };
}

// --- waits ---

// "zone a fits 7 of 8": how much of a group a domain could hold at most.
struct Fits {
  std::string level, domain;
  int fits = 0, of = 0;
};

// The text as a list of such sentences; nullopt if it is something else.
std::optional<std::vector<Fits>> read_fits(const Line& line, std::string_view text) {
  std::vector<Fits> all;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(", "), text.size());
    Line part{.number = line.number,
              .text = std::string(text.substr(0, comma)),
              .words = {},
              .below = {}};
    text.remove_prefix(std::min(comma + 2, text.size()));
    std::string word;
    for (const char letter : part.text + " ") {
      if (letter != ' ')
        word += letter;
      else if (!word.empty())
        part.words.push_back(std::exchange(word, {}));
    }
    if (part.words.size() != 6 || part.words[2] != "fits" || part.words[4] != "of")
      return std::nullopt;
    const Result<int> fits = read_number(line, part.words[3]);
    const Result<int> of = read_number(line, part.words[5]);
    if (!fits || !of) return std::nullopt;
    all.push_back({part.words[0], part.words[1], *fits, *of});
  }
  return all;
}

std::string bounds_text(const std::string& level, const scheduler::GroupVerdict& verdict, int of) {
  std::vector<std::string> parts;
  for (const scheduler::DomainBound& bound : verdict.bounds)
    parts.push_back(
        fmt::format("{} {} fits {} of {}", level, bound.domain, bound.fits_at_most, of));
  return fmt::format("waits: {}", fmt::join(parts, ", "));
}

Unmet check_fits(const std::vector<Fits>& wanted, const Stage& stage,
                 const Cast::Subject& subject) {
  if (!subject.group) return "it is no group";
  const scheduler::GroupVerdict* verdict = stage.log().verdict(stage.key(*subject.group));
  if (verdict == nullptr || verdict->bounds.empty()) return describe(stage, subject);
  const Cast::Group& group = stage.cast().group(*subject.group);
  const std::string level = level_word(group.line.within);
  const int needed = group.is_leaf() ? static_cast<int>(verdict->bounds.front().needed)
                                     : observe(stage, subject).waiting;
  for (const Fits& fits : wanted) {
    const auto at =
        std::ranges::find(verdict->bounds, fits.domain, &scheduler::DomainBound::domain);
    if (at == verdict->bounds.end() || fits.level != level || at->fits_at_most != fits.fits ||
        needed != fits.of)
      return bounds_text(level, *verdict, needed);
  }
  return std::nullopt;
}

// "waits for Node": what pods without a node say to autoscalers.
Result<Check> read_waits_for(Words words) {
  const std::string what = TRY(words.need("Node, Siblings, Evictions or nothing"));
  TRY(words.end());
  return [what](const Stage& stage, const Cast::Subject& subject) -> Unmet {
    const std::set<std::string> said = waits_for(stage, subject);
    if (said == std::set{what}) return std::nullopt;
    return fmt::format("its pods wait for {}", fmt::join(said, " and "));
  };
}

Result<Check> read_waits(const Line& line, Words words, bool has_text) {
  if (words.next_if("for")) return read_waits_for(words);
  std::string text;
  if (words.next_if("because")) {
    const std::size_t at = line.text.find(" because ");
    text = line.text.substr(line.text.find_first_not_of(' ', at + 9));
  } else if (has_text) {
    text = text_behind_colon(line);
    if (text.empty()) return fail_at(line, "`waits:` needs a text behind it");
    if (const auto fits = read_fits(line, text))
      return [fits = *fits](const Stage& stage, const Cast::Subject& subject) -> Unmet {
        const Observation seen = observe(stage, subject);
        if (seen.placed > 0 || seen.waiting == 0) return describe(stage, subject);
        return check_fits(fits, stage, subject);
      };
  } else {
    TRY(words.end());
  }
  return [text](const Stage& stage, const Cast::Subject& subject) {
    const Observation seen = observe(stage, subject);
    const bool says = text.empty() || message_of(stage, subject).find(text) != std::string::npos;
    return unless(seen.placed == 0 && seen.waiting > 0 && says, stage, subject);
  };
}

// --- conditions and events ---

// "says once: TEXT": the message says a thing, and does not repeat it.
Result<Check> read_says(const Line& line, Words words) {
  const std::string text = text_behind_colon(line);
  if (words.peek() != "once:" || text.empty()) return fail_at(line, "write says once: TEXT");
  return [text](const Stage& stage, const Cast::Subject& subject) {
    const std::string message = message_of(stage, subject);
    const std::size_t first = message.find(text);
    const bool once =
        first != std::string::npos && message.find(text, first + text.size()) == std::string::npos;
    return unless(once, stage, subject);
  };
}

Result<Check> read_condition(const Line& line, Words words) {
  std::string reason = TRY(words.need("a reason such as Unschedulable"));
  std::string text;
  if (reason.ends_with(':')) {
    reason.pop_back();
    text = text_behind_colon(line);
  } else {
    TRY(words.end());
  }
  return [reason, text](const Stage& stage, const Cast::Subject& subject) -> Unmet {
    const std::optional<api::Condition> said = condition_of(stage, subject);
    if (!said) return "it has no condition";
    if (said->reason == reason && said->message.find(text) != std::string::npos)
      return std::nullopt;
    return fmt::format("condition {} {}: {}", said->status, said->reason, said->message);
  };
}

std::vector<Stage::RecordedEvent> events_of(const Stage& stage, const Cast::Subject& subject) {
  std::vector<Stage::RecordedEvent> events;
  const auto add = [&](const api::ObjectPtr& object) {
    if (object == nullptr) return;
    for (Stage::RecordedEvent& event : stage.events_about(*object))
      events.push_back(std::move(event));
  };
  if (subject.group) add(stage.group(*subject.group));
  for (const std::size_t id : subject.pods) add(stage.pod(id));
  return events;
}

std::string events_text(const std::vector<Stage::RecordedEvent>& events) {
  if (events.empty()) return "it has no event";
  std::vector<std::string> lines;
  for (const Stage::RecordedEvent& event : events)
    lines.push_back(fmt::format("event {}: {}", event.reason, event.message));
  return fmt::format("{}", fmt::join(lines, "; "));
}

Result<Check> read_event(const Line& line, Words words, bool wanted) {
  std::string reason;
  std::string text;
  if (wanted || !words.done()) reason = TRY(words.need("a reason such as FailedScheduling"));
  if (reason.ends_with(':')) {
    reason.pop_back();
    text = text_behind_colon(line);
  } else {
    TRY(words.end());
  }
  return [reason, text, wanted](const Stage& stage, const Cast::Subject& subject) -> Unmet {
    const std::vector<Stage::RecordedEvent> events = events_of(stage, subject);
    const bool found = std::ranges::any_of(events, [&](const Stage::RecordedEvent& event) {
      return (reason.empty() || event.reason == reason) &&
             event.message.find(text) != std::string::npos;
    });
    return found == wanted ? std::nullopt : Unmet(events_text(events));
  };
}

Result<Check> read_attempts_at(Words words) {
  const Bound bound = TRY(read_bound(words));
  return [bound](const Stage& stage, const Cast::Subject& subject) -> Unmet {
    std::uint64_t seen = 0;
    if (subject.group)
      seen = stage.log().attempts_at(stage.key(*subject.group));
    else
      for (const std::size_t id : subject.pods)
        seen += stage.log().attempts_at_pod(stage.cast().pod(id).name);
    if (bound.holds(seen)) return std::nullopt;
    return fmt::format("{} attempts in this step", seen);
  };
}

// Every pod there is waits for one of these nodes, or for any if none is named; or none does.
Result<Check> read_nominated(Words words) {
  std::set<std::string> nodes;
  const bool nowhere = words.next_if("nowhere");
  if (!words.done() && !words.next_if("on"))
    return fail_at(words.line(), "write nominated on NODE");
  while (!words.done()) nodes.insert(std::string(words.next()));
  return [nodes, nowhere](const Stage& stage, const Cast::Subject& subject) -> Unmet {
    for (const std::size_t id : subject.pods) {
      const api::ObjectPtr pod = stage.pod(id);
      const std::string node = pod == nullptr ? "" : pod->view<api::PodView>().nominated_node;
      if (node.empty() != nowhere || (!nodes.empty() && !nodes.contains(node)))
        return fmt::format("{} is nominated to {}", stage.cast().pod(id).name,
                           node.empty() ? "no node" : node);
    }
    return std::nullopt;
  };
}

// A predicate about all pods there are.
template <typename Holds>
Result<Check> read_state(Words words, Holds holds) {
  TRY(words.end());
  return [holds](const Stage& stage, const Cast::Subject& subject) {
    return unless(holds(observe(stage, subject)), stage, subject);
  };
}

}  // namespace

Result<Bound> read_bound(Words& words) {
  Bound bound;
  if (words.next_if("at")) {
    const std::string side = TRY(words.need("most or least"));
    if (side != "most" && side != "least")
      return fail_at(words.line(), "`at {}`: write at most N or at least N", side);
    bound.kind = side == "most" ? Bound::Kind::AtMost : Bound::Kind::AtLeast;
  }
  bound.number = static_cast<std::uint64_t>(TRY(words.need_number("a number")));
  TRY(words.end());
  return bound;
}

Result<Check> read_predicate(const Line& line, Words words) {
  std::string word = TRY(words.need("what is expected"));
  if (word == "placed") return read_placed(line, words);
  if (word == "waits" || word == "waits:") return read_waits(line, words, word.back() == ':');
  if (word == "condition") return read_condition(line, words);
  if (word == "says") return read_says(line, words);
  if (word == "event") return read_event(line, words, true);
  if (word == "nominated") return read_nominated(words);
  if (word == "attempts") return read_attempts_at(words);
  if (word == "running")
    return read_state(words,
                      [](const Observation& s) { return s.pods > 0 && s.running == s.pods; });
  if (word == "ended")
    return read_state(words, [](const Observation& s) { return s.pods > 0 && s.ended == s.pods; });
  if (word == "gated")
    return read_state(words, [](const Observation& s) { return s.pods > 0 && s.gated == s.pods; });
  if (word == "terminating")
    return read_state(words,
                      [](const Observation& s) { return s.pods > 0 && s.terminating == s.pods; });
  if (word == "no") {
    const std::string what = TRY(words.need("condition or event"));
    if (what == "event") return read_event(line, words, false);
    if (what == "condition")
      return [](const Stage& stage, const Cast::Subject& subject) -> Unmet {
        const std::optional<api::Condition> said = condition_of(stage, subject);
        if (!said) return std::nullopt;
        return fmt::format("condition {} {}: {}", said->status, said->reason, said->message);
      };
    word += " " + what;
  }
  return fail_at(line, "unknown expectation `{}`; there are {}", word, kForms);
}

Unmet check_gone(const Stage& stage, const Cast::Subject& subject) {
  const Observation seen = observe(stage, subject);
  const bool object = subject.group && stage.group(*subject.group) != nullptr;
  if (seen.pods == 0 && !object) return std::nullopt;
  return object ? "its object is there; " + describe(stage, subject) : describe(stage, subject);
}

}  // namespace muster::sim
