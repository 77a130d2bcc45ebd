#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

// Documents and schemas: what makes untyped JSON a well-formed object of a kind, and one text of
// it.
namespace muster::api {

struct Decoded {
  Json document;  // typed and pruned: only known members, of the right types
  // `unknown field "spec.foo"`, `duplicate field "spec.bar"`, in order; beyond a hundred the last
  // one says how many more there are.
  std::vector<std::string> unknown;
};

// Checks every member of `parsed` against the schema: quantities and times must parse (times are
// cut to their precision), integers fit, nulls mean unset. Unknown members are dropped and
// reported. The error is what Go would say ("json: cannot unmarshal string into Go struct field
// …"), without the caller's `K in version "V" cannot be handled as a K: ` in front.
Result<Decoded> decode(const schema::Message& message, ParsedJson parsed);
// The same for texts that people write by hand: if a value has the wrong type, `wrong_at` is its
// path ("profiles[0].plugins.score"), which Go's sentence names without its indices.
Result<Decoded> decode(const schema::Message& message, ParsedJson parsed, std::string& wrong_at);

// Fills in the defaults that the tables state, recursively, wherever the parent exists.
void apply_defaults(const schema::Message& message, Json& document);

// The one text of a document: members in schema order, maps sorted by key, empty optional members
// left out as Go's omitempty does, `always` members present. Two documents that mean the same have
// the same text.
std::string canonical_text(const schema::Message& message, const Json& document);

}  // namespace muster::api
