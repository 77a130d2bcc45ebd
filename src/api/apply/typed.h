#pragma once

#include "api/apply/field_set.h"
#include "api/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

// Documents seen as server-side apply sees them: structs and maps by member, lists of type `map` by
// their keys, lists of type `set` by value, everything else one value. The schema tables say which
// is which.
namespace muster::api {

// Checks that every item of a keyed list has its keys and none occurs twice. BadRequest otherwise,
// in upstream's words.
Result<void> check_lists(const schema::Message& message, const Json& document);

// The paths that the document sets: its leaves, and list items themselves.
FieldSet fields_of(const schema::Message& message, const Json& document);

struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;
};
// How `after` differs from `before`. What appears or vanishes as a whole is named at every level.
Comparison compare(const schema::Message& message, const Json& before, const Json& after);

// `live` with the fields of `applied`. Items of keyed lists and sets come in the order of
// `applied`; those only in `live` keep their place among them, and come before new ones.
Json merged(const schema::Message& message, Json live, const Json& applied);

// Removes from `document` what is in `last` but not in `owned`, with everything below it.
void prune(const schema::Message& message, Json& document, const FieldSet& last,
           const FieldSet& owned);

}  // namespace muster::api
