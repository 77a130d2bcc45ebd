#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kept.h"
#include "api/request.h"
#include "base/result.h"
#include "base/time.h"
#include "client/https/dialect.h"

// Requests and answers in HTTP form, without any I/O: pure, so that a blocking client and one with
// many requests under way share them.
namespace muster::client {

struct HttpCall {
  std::string method;
  std::string target;        // path and query, encoded
  std::string content_type;  // empty: no body
  std::string body;
  std::string accept = {};  // empty: application/json
  // How long it may take to the end of its answer; unset: as long as the client lets calls take.
  std::optional<Duration> patience = {};
};

struct HttpReply {
  int code = 0;
  std::string body = {};
  std::vector<std::string> warnings = {};  // texts of Warning headers
  int retry_after_s = 0;
};

// Which parts of a kind's objects, as the server sends them, are kept; empty: all of it.
using Projection = std::function<std::span<const api::Kept>(const api::Kind& kind)>;

// Makes the object from a decoded document, which it may change; empty:
// api::Object::make().
using Maker =
    std::function<std::shared_ptr<api::Object>(const api::Kind& kind, api::Json& document)>;

// Whether the caller only needs to know that the request did not fail, and reads no object from the
// answer.
bool is_only_acknowledged(const api::Request& request);

// How the request is written. `owners`: how the server names owners.
HttpCall encode_call(const api::Request& request, const OwnerVersions& owners = {});

// What the reply means: an answer with objects decoded by the schema, or the error in its Status. A
// reply that is not Kubernetes JSON (a proxy's page) is an error that quotes it. For a list, only
// the parts that are kept are read.
Result<api::Answer> decode_reply(const api::Request& request, const HttpReply& reply,
                                 const Projection& project = {});

// One object in the form of this version of its kind: from a list or a watch.
Result<api::ObjectPtr> decode_object(const api::Kind& kind, std::string_view version,
                                     api::Json document, const Maker& make = {});
// The same from a decoded document. Fails if it has no name.
Result<api::ObjectPtr> make_object(const api::Kind& kind, api::Json& document,
                                   const Maker& make = {});
// The error in a Status. The reply fills in what the Status leaves out.
Error decode_status(const api::Json& status, const HttpReply& reply);

}  // namespace muster::client
