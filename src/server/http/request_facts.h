#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/request.h"
#include "base/entropy.h"
#include "base/result.h"
#include "server/access/attributes.h"
#include "server/access/identity.h"
#include "server/core/request/request_meter.h"
#include "server/http/exchange.h"
#include "server/http/message.h"
#include "server/http/negotiate.h"
#include "server/http/router.h"

// Small facts about a request, each read off its head, its query or its body.
namespace muster::server {

// Only names from our own tables become labels: a client must not be able to invent series.
RequestMeter::Labels metric_labels(const Route& route);
bool wants_indent(const Query& query, std::string_view user_agent);
Result<api::IncludeObject> include_object(const Query& query);
// The pods a GroupBinding is about, for the audit log.
std::vector<std::string> pods_bound(const api::Request& request);
bool is_write(api::Verb verb);
// What the answer to a request can be. Creations that store nothing, and those of subresources,
// have no Table.
Answerable answerable(const api::Request& request);
// The memory a request's head takes until it is answered: its texts, in the several forms they are
// kept in, its query, and its parsed selectors. 0 if it is no larger than usual.
std::size_t held_for_head(const HttpRequest& request, const Exchange& exchange);
// BadRequest if ?timeout= is not a Go duration ("30s", "1m30s"). Watches do not read
// it.
Result<void> check_timeout(const Route& route);
// The user that the request's headers name.
Identity identity_wanted(const HttpRequest& request);
// What authorization judges. A list or watch of one object by its name counts as naming the object.
Attributes attributes_judged(const Route& route);

// Audit ids and the jitter of watch timeouts are not decisions of a component, so this room draws
// them itself.
Entropy& http_entropy();

}  // namespace muster::server
