#include "explain/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/quantity.h"

namespace muster::explain {

std::string_view word_of(std::string_view topology_key) {
  const auto slash = topology_key.rfind('/');
  return slash == std::string_view::npos ? topology_key : topology_key.substr(slash + 1);
}

std::string_view without_full_stop(std::string_view message) {
  if (message.ends_with('.')) message.remove_suffix(1);
  return message;
}

std::string count_of(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
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
    case RelaxationKind::MoreNodes: return "MoreNodes";
    case RelaxationKind::Uncordon: return "Uncordon";
    case RelaxationKind::Untaint: return "Untaint";
    case RelaxationKind::OthersFinish: return "OthersFinish";
  }
  return "";
}

}  // namespace muster::explain
