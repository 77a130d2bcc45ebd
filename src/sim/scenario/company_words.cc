#include "sim/scenario/company_words.h"

#include "sim/scenario/node_line.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// "app=web@zone": which pods, and nodes that share which label.
Result<JsonObject> read_term(const Line& line, std::string_view text) {
  const std::size_t at = text.rfind('@');
  const Setting label = read_setting(text.substr(0, at));
  if (at == std::string_view::npos || label.name.empty())
    return fail_at(line, "{}: write KEY=VALUE@LEVEL, such as app=web@zone", text);
  return JsonObject{
      {"topologyKey", label_key(text.substr(at + 1))},
      {"labelSelector", JsonObject{{"matchLabels", JsonObject{{label.name, label.value}}}}}};
}

void append(Json& list, Json entry) {
  if (!list.is_array()) list = JsonArray{};
  list.as_array().push_back(std::move(entry));
}

void add_term(Company& company, std::string_view side, bool is_required, JsonObject term) {
  Json& affinity = company.affinity[side];
  if (!affinity.is_object()) affinity = JsonObject{};
  if (is_required)
    append(affinity.as_object()[kRequired], std::move(term));
  else
    append(affinity.as_object()[kPreferred],
           JsonObject{{"weight", 100}, {"podAffinityTerm", std::move(term)}});
}

Result<void> add_spread(const Line& line, std::string_view text, bool is_hard, Company& company) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return fail_at(line, "{}: write KEY=VALUE@LEVEL:SKEW, such as app=web@zone:1", text);
  JsonObject constraint = TRY(read_term(line, text.substr(0, colon)));
  constraint["maxSkew"] = TRY(read_number(line, text.substr(colon + 1)));
  constraint["whenUnsatisfiable"] = is_hard ? "DoNotSchedule" : "ScheduleAnyway";
  company.spread.push_back(std::move(constraint));
  return {};
}

}  // namespace

Result<bool> read_company_word(const Line& line, std::string_view word, Company& company) {
  const Setting setting = read_setting(word);
  if (setting.name == "label") {
    const Setting label = read_setting(setting.value);
    if (label.name.empty()) return fail_at(line, "{}: write label=KEY=VALUE", word);
    company.labels[label.name] = label.value;
  } else if (setting.name == "near") {
    add_term(company, "podAffinity", true, TRY(read_term(line, setting.value)));
  } else if (setting.name == "away-from") {
    add_term(company, "podAntiAffinity", true, TRY(read_term(line, setting.value)));
  } else if (setting.name == "prefers-near") {
    add_term(company, "podAffinity", false, TRY(read_term(line, setting.value)));
  } else if (setting.name == "prefers-away-from") {
    add_term(company, "podAntiAffinity", false, TRY(read_term(line, setting.value)));
  } else if (setting.name == "spread") {
    TRY(add_spread(line, setting.value, true, company));
  } else if (setting.name == "spread-softly") {
    TRY(add_spread(line, setting.value, false, company));
  } else {
    return false;
  }
  return true;
}

}  // namespace muster::sim
