#pragma once

#include "api/apply/field_set.h"
#include "api/json.h"
#include "base/result.h"

namespace muster::api {

// The fields one manager owns, as FieldsV1 has them: the same set as a FieldSet, kept in the form
// in which it is stored. A manager may own every field of a large object, and most writes change
// a few of them: so questions and changes cost as much as the other set holds, plus the members of
// the nodes that gain or lose one; everything else is left in place.
//
//   {"f:spec":{"f:image":{}}}            spec.image
//   {"f:spec":{".":{},"f:image":{}}}     spec and spec.image
class OwnedFields {
 public:
  OwnedFields() : root_(JsonObject()) {}
  explicit OwnedFields(const FieldSet& set) : root_(to_fields_v1(set)) {}
  // Keeps `fields` as it is if its elements are in order, as we write them; otherwise sorts it.
  // BadRequest, and `fields` untouched, if it is not a tree of path elements.
  static Result<OwnedFields> extract(Json& fields);

  bool empty() const { return root_.get_object().empty(); }
  FieldSet set() const;
  // Whether a path is in both.
  bool meets(const FieldSet& other) const;
  void add(const FieldSet& more);
  void remove(const FieldSet& gone);
  // The set as FieldsV1, moved out.
  Json take_json() &&;

 private:
  explicit OwnedFields(Json root) : root_(std::move(root)) {}

  Json root_;  // an object
};

}  // namespace muster::api
