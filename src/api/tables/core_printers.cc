#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/tables/printer.h"

namespace muster::api::tables {
namespace {

constexpr Column kNamespaceColumns[] = {
    kName, {.name = "Status", .description = "Active, or Terminating."}, kAge};
constexpr Column kEventColumns[] = {
    {.name = "Last Seen", .description = "Time since it happened last."},
    {.name = "Type", .description = "Normal or Warning."},
    {.name = "Reason", .description = "Why, in one word."},
    {.name = "Object", .description = "What it happened to."},
    {.name = "Subobject", .description = "Which part of the object.", .priority = 1},
    {.name = "Source", .description = "Who reports it.", .priority = 1},
    {.name = "Message", .description = "What happened, in a sentence."},
    {.name = "First Seen", .description = "Time since it happened first.", .priority = 1},
    {.name = "Count", .description = "How often it happened.", .priority = 1},
    {.name = "Name", .format = "name", .description = "Name of the event.", .priority = 1},
};
constexpr Column kLeaseColumns[] = {
    kName, {.name = "Holder", .description = "Who holds the lease."}, kAge};
constexpr Column kConfigMapColumns[] = {
    kName, {.name = "Data", .description = "Number of entries."}, kAge};
constexpr Column kSecretColumns[] = {kName,
                                     {.name = "Type", .description = "What the secret is for."},
                                     {.name = "Data", .description = "Number of entries."},
                                     kAge};
constexpr Column kNameAndAge[] = {kName, kAge};
constexpr Column kBudgetColumns[] = {
    kName,
    {.name = "Min Available", .description = "Pods that must stay available."},
    {.name = "Max Unavailable", .description = "Pods that may be unavailable."},
    {.name = "Allowed Disruptions",
     .type = "integer",
     .description = "Pods that may be disrupted now."},
    kAge};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

// The core name of a member, or what events.k8s.io calls it.
const Json& either(const Json& document, std::string_view core, std::string_view events) {
  return is_set(document, core) ? part(document, core) : part(document, events);
}

std::string_view either_text(const Json& document, std::string_view core, std::string_view events) {
  const std::string_view text = find_string(document, core);
  return text.empty() ? find_string(document, events) : text;
}

std::string source_text(const Json& event) {
  const Json& source = either(event, "source", "deprecatedSource");
  std::string_view component = find_string(source, "component");
  if (component.empty())
    component = either_text(event, "reportingComponent", "reportingController");
  std::string_view host = find_string(source, "host");
  if (host.empty()) host = find_string(event, "reportingInstance");
  return host.empty() ? std::string(component) : fmt::format("{}, {}", component, host);
}

std::string object_text(const Json& involved) {
  std::string text = lower_case(find_string(involved, "kind"));
  if (const std::string_view name = find_string(involved, "name"); !name.empty()) {
    text += '/';
    text += name;
  }
  return text;
}

void print_event(const Object& object, const Json& event, Cells& cells) {
  const Json& involved = either(event, "involvedObject", "regarding");
  const Json& series = part(event, "series");
  std::optional<Time> first =
      parse_time(either_text(event, "firstTimestamp", "deprecatedFirstTimestamp"));
  if (!first) first = time(event, "eventTime");
  std::optional<Time> last =
      parse_time(either_text(event, "lastTimestamp", "deprecatedLastTimestamp"));
  if (!last) last = first;
  std::int64_t count = integer(event, "count", integer(event, "deprecatedCount"));
  if (count == 0) count = 1;
  if (!series.is_null()) {
    last = time(series, "lastObservedTime");
    count = integer(series, "count");
  }
  cells.age(last);
  cells.text(find_string(event, "type"));
  cells.text(find_string(event, "reason"));
  cells.text(object_text(involved));
  cells.text(find_string(involved, "fieldPath"));
  cells.text(source_text(event));
  cells.text(trimmed(either_text(event, "message", "note")));
  cells.age(first);
  cells.number(count);
  cells.text(object.meta().name);
}

void print_namespace(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.text(find_string(part(document, "status"), "phase"));
  cells.age(object.meta().creation_time);
}

void print_lease(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.text(find_string(part(document, "spec"), "holderIdentity"));
  cells.age(object.meta().creation_time);
}

std::int64_t entries(const Json& document, std::string_view member) {
  const JsonObject* found = find_object(document, member);
  return found == nullptr ? 0 : static_cast<std::int64_t>(found->size());
}

void print_config_map(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.number(entries(document, "data") + entries(document, "binaryData"));
  cells.age(object.meta().creation_time);
}

void print_secret(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.text(find_string(document, "type"));
  cells.number(entries(document, "data"));
  cells.age(object.meta().creation_time);
}

void print_name_and_age(const Object& object, const Json&, Cells& cells) {
  cells.text(object.meta().name);
  cells.age(object.meta().creation_time);
}

// A number or a percentage.
std::string amount_text(const Json& spec, std::string_view member) {
  const Json& amount = part(spec, member);
  if (amount.is_null()) return "N/A";
  return amount.is_string() ? std::string(find_string(spec, member)) : to_text(amount);
}

void print_budget(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  cells.text(object.meta().name);
  cells.text(amount_text(spec, "minAvailable"));
  cells.text(amount_text(spec, "maxUnavailable"));
  cells.number(integer(part(document, "status"), "disruptionsAllowed"));
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> core_printers() {
  static constexpr Printer kPrinters[] = {
      {"", "Namespace", kNamespaceColumns, print_namespace},
      {"", "Event", kEventColumns, print_event},
      {"events.k8s.io", "Event", kEventColumns, print_event},
      {"coordination.k8s.io", "Lease", kLeaseColumns, print_lease},
      {"", "ConfigMap", kConfigMapColumns, print_config_map},
      {"", "Secret", kSecretColumns, print_secret},
      {"", "ServiceAccount", kNameAndAge, print_name_and_age},
      {"policy", "PodDisruptionBudget", kBudgetColumns, print_budget},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
