#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/amounts.h"

// How much objects use of what a ResourceQuota limits.
namespace muster::server {

// By the names that quotas use: "pods", "requests.cpu", "count/jobs.batch".
api::Quantities usage_of(const api::Kind& kind, const api::Json& document);
// The kinds whose objects use any of these, each once.
std::vector<const api::Kind*> kinds_using(const api::Quantities& hard);
// Only what a quota limits.
api::Quantities masked(const api::Quantities& usage, const api::Quantities& hard);

// What the scopes of quotas ask about an object. Only pods have any of it.
struct ScopeTraits {
  bool is_pod = false;
  bool ends = false;  // has a deadline
  bool best_effort = false;
  bool crosses_namespaces = false;
  std::string priority_class;

  friend auto operator<=>(const ScopeTraits&, const ScopeTraits&) = default;
};

// All that any quota wants to know of an object: found out once, however many quotas there are.
struct ObjectUse {
  ScopeTraits traits;
  api::Quantities amounts;

  friend bool operator==(const ObjectUse&, const ObjectUse&) = default;
};
ObjectUse use_of(const api::Kind& kind, const api::Json& document);
// Reads the document only if it matters.
ObjectUse use_of(const api::Kind& kind, const api::Object& object);

// Which objects a quota counts: those that match all its scopes.
class QuotaScopes {
 public:
  explicit QuotaScopes(const api::Json& quota_spec);
  bool match(const ScopeTraits& traits) const;

 private:
  struct Scope {
    std::string name;
    std::string op;
    std::vector<std::string> values;  // sorted
  };
  std::vector<Scope> scopes_;
};

// The resources that containers of a pod do not set, but must where a quota limits them.
class UnsaidResources {
 public:
  explicit UnsaidResources(const api::Json& pod);
  // "cpu for: main; memory for: main,side"; empty if nothing is missing.
  std::string text(const api::Quantities& hard) const;

 private:
  std::map<std::string, std::set<std::string>> missing_;  // containers by resource
};

}  // namespace muster::server
