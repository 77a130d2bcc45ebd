#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/request.h"
#include "api/values/field_selector.h"
#include "api/values/label_selector.h"
#include "base/result.h"

namespace muster::server {

// Which objects of a kind a list, watch or deletecollection is about: a namespace, labels, fields.
class Selection {
 public:
  // BadRequest for bad syntax and for fields the kind cannot be selected by, in upstream's words.
  static Result<Selection> of(const api::Request& request);

  bool matches(const api::Object& object) const;
  // True if only the namespace narrows it: every object under prefix() matches.
  bool selects_everything() const {
    return labels_.selects_everything() && fields_.selects_everything();
  }
  // How many conditions matches() may have to look at.
  std::size_t terms() const { return labels_.requirements().size() + fields_.terms().size(); }
  // Whether matches() may have to search the bytes of an object: once, for all fields.
  bool searches() const { return !searched_.empty(); }
  // What the keys of all selected objects begin with.
  const std::string& prefix() const { return prefix_; }
  // The only key that can match, if the selection names one; otherwise empty.
  const std::string& only_key() const { return only_key_; }

 private:
  // A field that is read from an object's bytes, and its path there. Paths of one field are
  // adjacent: the first that exists counts.
  struct Searched {
    std::string field;
    std::string path;
  };
  std::string field_text(const api::Object& object, std::string_view field,
                         std::vector<std::string_view>& values) const;
  std::vector<std::string_view> find_values(std::string_view bytes) const;

  std::string name_space_;  // empty = all
  std::string prefix_;
  std::string only_key_;
  api::LabelSelector labels_;
  api::FieldSelector fields_;
  std::vector<Searched> searched_;
};

// The scalar at a dotted path of canonical JSON text, without building a document: watches with
// field selectors ask this of every change. "" if there is none; numbers and booleans as they are
// written.
std::string scalar_at(std::string_view bytes, std::string_view dotted_path);

}  // namespace muster::server
