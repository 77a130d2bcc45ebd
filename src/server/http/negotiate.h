#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/request.h"
#include "base/result.h"

// Content negotiation: what a client wants to read and what it says it sends.
namespace muster::server {

// One clause of an Accept header.
struct MediaRange {
  std::string type;  // "application/json", "*/*", in lower case
  double quality = 1;
  std::string as;  // parameters that ask for a transform
  std::string group;
  std::string version;
};
// By falling quality, equal ones in the order sent. Parameters other than q, as, g and v are
// dropped.
std::vector<MediaRange> parse_accept(std::string_view accept);

// How an object is written: as it is, as rows of a Table, or its metadata only.
enum class Form : std::uint8_t { Full, Table, Metadata };
struct Answerable {
  bool list = false;  // a list; otherwise objects, as in a watch
  bool table = true;  // has a Table
};
struct NegotiatedForm {
  Form form = Form::Full;
  std::string_view meta_version = "v1";  // of a Table
  friend bool operator==(const NegotiatedForm&, const NegotiatedForm&) = default;
};

// NotAcceptable if there is nothing in `accept` that we write.
Result<NegotiatedForm> negotiate_form(std::string_view accept, Answerable what);

// Whether the client prefers aggregated discovery (v2) to the plain documents. NotAcceptable as
// above.
Result<bool> negotiate_aggregated_discovery(std::string_view accept);

// Whether a plain JSON document will do.
Result<void> negotiate_json(std::string_view accept);

// The media type to answer /openapi/v2 with: JSON or one of the two spellings of its protobuf form.
Result<std::string> negotiate_openapi_v2(std::string_view accept);

enum class BodyFormat : std::uint8_t { Json, Yaml, Protobuf };
// By Content-Type; none means JSON. UnsupportedMediaType for others.
Result<BodyFormat> body_format(std::string_view content_type);
Result<api::PatchType> patch_type(std::string_view content_type);

// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace muster::server
