#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"

namespace muster::api {

// canonical_text() without metadata.resourceVersion and metadata.selfLink: what an Object holds.
struct StoredText {
  std::string text;
  std::size_t metadata_end = 0;  // the text up to here is {"metadata":{…}; 0 if there is none
};
StoredText stored_text(const schema::Message& message, const Json& document);
// The same with a beginning that was written before, up to the end of the metadata; only what
// follows the metadata is taken from the document.
StoredText stored_text(const schema::Message& message, std::string_view beginning,
                       const Json& document);

}  // namespace muster::api
