#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"

namespace muster::api::openapi {

// Version 2 has "#/definitions/X" and allows a description beside it; version 3 has
// "#/components/schemas/X" and needs it wrapped.
enum class Edition { V2, V3 };

// "io.k8s.api.core.v1.Pod", the name by which clients know a message.
std::string definition_name(const schema::Message& message);
Json reference_to(std::string_view definition, Edition edition);

// Definitions by name: those added, and everything they refer to.
class Definitions {
 public:
  explicit Definitions(Edition edition) : edition_(edition) {}

  void add(const schema::Message& message);
  // Says that the message is the kind of this group and version; it has been added before.
  void add_kind(const schema::Message& message, std::string_view group, std::string_view version,
                std::string_view kind);
  // A definition that no table has.
  void add_plain(std::string_view name, Json definition);

  const std::map<std::string, Json, std::less<>>& all() const { return definitions_; }

 private:
  Json message_schema(const schema::Message& message);
  Json field_schema(const schema::Field& field);
  Json value_schema(const schema::Field& field);
  Json well_known(std::string_view name, Json definition);

  Edition edition_;
  std::map<std::string, Json, std::less<>> definitions_;
};

}  // namespace muster::api::openapi
