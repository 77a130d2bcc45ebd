#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"

// The vocabulary of requests, shared by both ends of the wire: server/http fills a Request from an
// HTTP message, client from a typed call; server/core answers it.
namespace muster::api {

enum class Verb : std::uint8_t {
  Get,
  List,
  Watch,
  Create,
  Update,
  Patch,
  Delete,
  DeleteCollection
};

enum class PatchType : std::uint8_t { JsonPatch, Merge, StrategicMerge, Apply };

enum class FieldValidation : std::uint8_t { Ignore, Warn, Strict };

// Who asks. Loopback components ask as the user their certificate would name.
struct User {
  std::string name;
  std::vector<std::string> groups;
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_s;
  std::string propagation_policy;  // "", Orphan, Background, Foreground
  Preconditions preconditions;
};

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 0;
  std::string continue_token;
  std::string resource_version;
  std::string resource_version_match;
  bool allow_bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_s;
};

struct Request {
  Verb verb = Verb::Get;
  const Kind* kind = nullptr;
  std::string version;  // as in the URL
  std::string name_space;
  std::string name;
  std::string subresource;
  User user;

  // Create, Update, Patch: the body as a document. For Create and Update it is decoded by the
  // kind's schema (decode.h): typed, pruned, not yet defaulted. For Patch it is the patch as
  // parsed.
  Json body;
  PatchType patch_type = PatchType::Merge;
  FieldValidation field_validation = FieldValidation::Warn;
  std::string field_manager;
  bool force = false;
  bool dry_run = false;

  ListOptions list;
  DeleteOptions remove;
  std::vector<std::string> warnings;  // found while decoding; returned with the answer
};

// What a request led to. Encoding (JSON, Table, PartialObjectMetadata) is the caller's business.
struct ObjectAnswer {
  ObjectPtr object;
  Revision revision;  // may differ from object->revision(): a deleted object carries its deletion's
  bool created = false;
};
struct ListAnswer {
  std::vector<ObjectPtr> items;
  Revision revision;
  std::string continue_token;
  std::optional<std::int64_t> remaining;
};
// Success without an object: delete of most kinds, bindings.
struct StatusAnswer {
  int code = 200;
  std::string name;
  std::string group;
  std::string kind;  // resource plural
  std::string uid;
};
// A document that is not a stored object (reviews, scale); carries kind and apiVersion itself.
struct DocumentAnswer {
  Json document;
  int code = 201;
};

struct Answer {
  std::variant<ObjectAnswer, ListAnswer, StatusAnswer, DocumentAnswer> what;
  std::vector<std::string> warnings;
};

}  // namespace muster::api
