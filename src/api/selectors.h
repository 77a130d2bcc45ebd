#pragma once

#include "api/json.h"
#include "api/values/label_selector.h"
#include "base/result.h"

namespace muster::api {

// A metav1.LabelSelector in a document. A missing one selects nothing, an empty one everything.
// BadRequest if it is malformed, which validation keeps out of stored objects.
Result<LabelSelector> read_label_selector(const Json* selector);

// The labels in a document's metadata, for matching.
StringPairs read_labels(const Json* metadata);

}  // namespace muster::api
