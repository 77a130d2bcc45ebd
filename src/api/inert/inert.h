#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"

// What is stored and served, but nobody acts on. The server warns those who write it, a controller
// puts an event on the object, docs/limits.md lists it; all of them read this table.
namespace muster::api {

// Components that are switched off, by name.
using Absent = std::set<std::string, std::less<>>;

struct InertRule {
  std::string_view group;  // and kind: of what is stored
  std::string_view kind;
  // "spec.resourceClaims"; "containers[].lifecycle" means any of a list. Empty: the whole
  // kind. Of the kind Pod it is a field of the spec, and holds for the templates of pods as well.
  std::string_view field;
  std::string_view value;        // only this value is not acted on; empty: none is
  std::string_view consequence;  // the end of the sentence
  std::string_view component;    // acts on it unless it is switched off; empty: nobody does
};
std::span<const InertRule> inert_rules();

// Where the pod templates of a kind are.
struct TemplatePlace {
  std::string_view group;
  std::string_view kind;
  std::string_view path;  // as a field of InertRule
};
std::span<const TemplatePlace> template_places();

// Whether some rule is about the kind, its templates included.
bool may_be_inert(const Kind& kind);

// A sentence for each rule that applies to the document; SwitchedOff: only those whose reason is an
// absent component.
enum class InertBecause : std::uint8_t { Anything, SwitchedOff };
std::vector<std::string> inert_sentences(const Kind& kind, const Json& document,
                                         const Absent& absent,
                                         InertBecause because = InertBecause::Anything);

// False if no rule can apply to an object with these bytes: cheaper than parsing them.
bool could_be_inert(const Kind& kind, std::string_view bytes, const Absent& absent);

}  // namespace muster::api
