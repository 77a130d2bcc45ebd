#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/views/amounts.h"

// What objects use of what a ResourceQuota limits.
namespace muster::server {

// By the names that quotas use: "pods", "requests.cpu", "count/jobs.batch".
api::Quantities usage_of(const api::Kind& kind, const api::Json& document);
// The kinds whose objects use any of these, each once.
std::vector<const api::Kind*> kinds_using(const api::Quantities& hard);

// Which objects a quota counts: those that match all its scopes. Only pods have any.
class QuotaScopes {
 public:
  explicit QuotaScopes(const api::Json& quota_spec);
  bool match(const api::Kind& kind, const api::Json& document) const;

 private:
  struct Scope {
    std::string name;
    std::string op;
    std::vector<std::string> values;
  };
  std::vector<Scope> scopes_;
};

// "cpu for: main; memory for: main,side": what containers must say because the quota limits it, and
// do not. Empty if nothing is missing.
std::string unsaid_resources(const api::Quantities& hard, const api::Json& pod);

}  // namespace muster::server
