#include "server/http/request_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "api/json.h"
#include "api/values/field_selector.h"
#include "server/access/authorizer.h"
#include "server/http/query.h"

namespace muster::server {

RequestMeter::Labels metric_labels(const Route& route) {
  RequestMeter::Labels labels;
  const api::Request& request = route.request;
  if (route.endpoint != Endpoint::Resource || route.error || request.kind == nullptr) {
    labels.verb = route.endpoint == Endpoint::Unknown || route.error ? "other" : "GET";
    if (route.endpoint == Endpoint::Health)
      labels.subresource = route.key == "healthz" ? "/healthz"
                           : route.key == "livez" ? "/livez"
                                                  : "/readyz";
    if (route.endpoint == Endpoint::Metrics) labels.subresource = "/metrics";
    return labels;
  }
  return RequestMeter::labels_of(request);
}

bool wants_indent(const Query& query, std::string_view user_agent) {
  if (query.find("pretty") != nullptr) return query.flag("pretty");
  constexpr std::array<std::string_view, 3> kHumans = {"curl", "Wget", "Mozilla/5.0"};
  return std::ranges::any_of(kHumans,
                             [&](std::string_view human) { return user_agent.starts_with(human); });
}

Result<api::IncludeObject> include_object(const Query& query) {
  const std::string text = query.text("includeObject");
  if (text.empty() || text == "Metadata") return api::IncludeObject::Metadata;
  if (text == "Object") return api::IncludeObject::Object;
  if (text == "None") return api::IncludeObject::None;
  return fail(Reason::BadRequest, "unrecognized includeObject value: {:?}", text);
}

namespace {

// The one object that a field selector with `metadata.name=x` can find; empty without it.
std::string name_selected(const Query& query) {
  const auto selector = api::FieldSelector::parse(query.text("fieldSelector"));
  const std::string* name = selector ? selector->required_value("metadata.name") : nullptr;
  return name == nullptr ? "" : *name;
}

}  // namespace

std::vector<std::string> pods_bound(const api::Request& request) {
  std::vector<std::string> out;
  if (request.kind == nullptr || request.kind->kind != "GroupBinding") return out;
  const api::Json* const pods = api::find_path(request.body, "spec.pods");
  if (pods == nullptr || !pods->is_array()) return out;
  for (const api::Json& pod : pods->get_array()) out.emplace_back(api::find_string(pod, "name"));
  return out;
}

bool is_write(api::Verb verb) {
  return verb != api::Verb::Get && verb != api::Verb::List && verb != api::Verb::Watch;
}

Identity identity_wanted(const HttpRequest& request) {
  Identity out{.user = {.name = request.impersonate_user, .groups = request.impersonate_groups},
               .uid = request.impersonate_uid};
  for (const auto& [key, value] : request.impersonate_extra)
    out.extra[percent_decode(key, false).value_or(key)].push_back(value);
  return out;
}

Answerable answerable(const api::Request& request) {
  const bool creates = request.verb == api::Verb::Create;
  return {.list = request.verb == api::Verb::List || request.verb == api::Verb::DeleteCollection,
          .table = !creates || (request.kind->stored && request.subresource.empty())};
}

std::size_t held_for_head(const HttpRequest& request, const Exchange& exchange) {
  constexpr std::size_t kUsual = 8U << 10U;
  constexpr std::size_t kForms = 3;    // in the request, the route and the audit record
  constexpr std::size_t kParsed = 12;  // values of a selector, of a few bytes each
  const Query& query = exchange.route.query;
  std::size_t bytes = kForms * request.head_bytes() + query.held_bytes();
  for (const std::string_view key : {"labelSelector", "fieldSelector"})
    if (const std::string* text = query.find(key)) bytes += kParsed * text->size();
  return bytes > kUsual ? bytes : 0;
}

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"µs", 1'000},
                                         {"μs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};
// A duration has less than this many nanoseconds, 292 years; one that is negative may have as many.
constexpr std::uint64_t kDurationEnd = std::uint64_t{1} << 63U;

// "1.5" of a unit, in nanoseconds; nullopt if that is beyond any duration.
std::optional<std::uint64_t> nanoseconds_of(std::string_view digits, const Unit& unit) {
  const std::size_t dot = std::min(digits.find('.'), digits.size());
  std::uint64_t whole = 0;
  for (const char c : digits.substr(0, dot)) {
    if (whole > kDurationEnd / 10) return std::nullopt;
    whole = whole * 10 + static_cast<std::uint64_t>(c - '0');
    if (whole > kDurationEnd / unit.nanoseconds) return std::nullopt;
  }
  double rest = 0;
  auto place = static_cast<double>(unit.nanoseconds);
  for (const char c : digits.substr(std::min(dot + 1, digits.size()))) {
    place /= 10;
    rest += (c - '0') * place;
  }
  return whole * unit.nanoseconds + static_cast<std::uint64_t>(rest);
}

// What is wrong with a duration, in Go's words; empty: nothing.
std::string duration_fault(std::string_view text) {
  const std::string_view whole = text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string invalid = fmt::format("time: invalid duration {:?}", whole);
  const std::uint64_t most = text.starts_with('-') ? kDurationEnd : kDurationEnd - 1;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return "";
  if (text.empty()) return invalid;
  std::uint64_t total = 0;
  while (!text.empty()) {
    const std::size_t number = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view digits = text.substr(0, number);
    if (std::ranges::count(digits, '.') > 1 || std::ranges::none_of(digits, is_digit))
      return invalid;
    text.remove_prefix(number);
    const std::size_t end = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view name = text.substr(0, end);
    if (name.empty()) return fmt::format("time: missing unit in duration {:?}", whole);
    const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
    if (unit == kUnits.end())
      return fmt::format("time: unknown unit {:?} in duration {:?}", name, whole);
    const auto more = nanoseconds_of(digits, *unit);
    if (!more || *more > most - total) return invalid;
    total += *more;
    text.remove_prefix(end);
  }
  return "";
}

}  // namespace

Result<void> check_timeout(const Route& route) {
  if (route.attributes.verb == "watch") return {};
  const std::string text = route.query.text("timeout");
  if (text.empty()) return {};
  if (const std::string fault = duration_fault(text); !fault.empty())
    return fail(Reason::BadRequest, "invalid timeout specified in the request URL - {}", fault);
  return {};
}

Attributes attributes_judged(const Route& route) {
  const Attributes& asked = route.attributes;
  Attributes out = asked;
  if ((asked.verb == "list" || asked.verb == "watch") && asked.name.empty())
    out.name = name_selected(route.query);
  // A Namespace is in itself: who may read all in it may read it too.
  if (asked.is_resource && asked.group.empty() && asked.resource == "namespaces" &&
      !asked.name.empty())
    out.name_space = asked.name;
  return out;
}

bool Exchange::wants_body() const {
  return route.endpoint == Endpoint::Resource && !route.error && is_write(route.request.verb);
}

Entropy& http_entropy() {
  thread_local SeededEntropy of_this_thread = [] {
    SystemEntropy system;
    return SeededEntropy(system.next());
  }();
  return of_this_thread;
}

}  // namespace muster::server
