#include "server/core/write/quota.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/scratch.h"
#include "base/check.h"
#include "server/core/request/errors.h"
#include "server/core/strategies/document.h"
#include "server/core/write/quota_count.h"
#include "server/core/write/quota_usage.h"

namespace muster::server {
namespace {

using api::ObjectPtr;
using api::Quantities;
using api::Quantity;

// A pod that the decision creates.
struct NewPod {
  std::string name;
  ScopeTraits traits;
  UnsaidResources unsaid;
};

// The writes of the decision in one namespace that has quotas, summed up before any quota looks at
// them: there may be hundreds of writes and a thousand quotas.
struct Account {
  struct Sum {
    Quantities freed;
    Quantities taken;
  };
  std::vector<ObjectPtr> quotas;
  std::map<ScopeTraits, Sum> sums;  // by all that scopes can tell apart
  std::vector<NewPod> new_pods;     // if the request can be refused
};
using Accounts = std::map<std::string, Account, std::less<>>;

JsonObject to_json(const Quantities& amounts) {
  JsonObject out;
  for (const auto& [name, amount] : amounts) out[name] = amount.text();
  return out;
}

// What the status says is used of what is limited.
Quantities said_used(const Json& quota, const Quantities& hard) {
  return masked(api::read_quantities(api::find_object(api::part_of(quota, "status"), "used")),
                hard);
}
bool says_all_used(const Json& quota) {
  const Quantities hard = hard_of(quota);
  return said_used(quota, hard).size() == hard.size();
}

// No write leaves out what is used (count_quota); only a store of long ago may.
Quantities used_now(Context& context, const api::Object& quota, const Json& document,
                    const Quantities& hard) {
  Quantities used = said_used(document, hard);
  if (used.size() == hard.size()) return used;
  return count_namespace(context, quota.meta().name_space, document);
}

std::string texts(const Quantities& amounts, const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    const Quantity* amount = api::lookup(amounts, name);
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name,
                       amount == nullptr ? "0" : amount->text());
  }
  return out;
}

// Only what clients ask for is refused; a report of what is is not.
bool can_be_refused(const api::Request& request) {
  using api::Verb;
  const bool writes =
      request.verb == Verb::Create || request.verb == Verb::Update || request.verb == Verb::Patch;
  return writes && (request.subresource.empty() || request.subresource == "resize" ||
                    request.subresource == "scale");
}

class Charge {
 public:
  Charge(Context& context, const api::Request& request, const Account& account)
      : context_(context), request_(request), account_(account) {}

  // The new version of the quota; null if nothing changes.
  Result<std::shared_ptr<api::Object>> apply(const api::Object& quota) {
    Json document = quota.document();
    const Quantities hard = hard_of(document);
    const QuotaScopes scopes(api::part_of(document, "spec"));
    TRY(check_said(quota, scopes, hard));
    Quantities freed;
    Quantities taken;
    for (const auto& [traits, sum] : account_.sums) {
      if (!scopes.match(traits)) continue;
      api::add_to(freed, masked(sum.freed, hard));
      api::add_to(taken, masked(sum.taken, hard));
    }
    if (freed == taken) return nullptr;
    Quantities used = used_now(context_, quota, document, hard);
    TRY(check(quota, hard, used, freed, taken));
    for (auto& [name, amount] : used) {
      if (const Quantity* more = api::lookup(taken, name)) amount += *more;
      if (const Quantity* less = api::lookup(freed, name)) amount -= *less;
      if (amount.is_negative()) amount = Quantity();
    }
    JsonObject& status = api::ensure_object(document.get_object(), "status");
    status["hard"] = JsonObject(api::members(api::part_of(document, "spec"), "hard"));
    status["used"] = to_json(used);
    return make_object(quota.kind(), document);
  }

 private:
  Result<void> check_said(const api::Object& quota, const QuotaScopes& scopes,
                          const Quantities& hard) const {
    for (const NewPod& pod : account_.new_pods) {
      if (!scopes.match(pod.traits)) continue;
      const std::string unsaid = pod.unsaid.text(hard);
      if (!unsaid.empty())
        return fail(
            forbidden(*request_.kind, pod.name,
                      fmt::format("failed quota: {}: must specify {}", quota.meta().name, unsaid)));
    }
    return {};
  }

  Result<void> check(const api::Object& quota, const Quantities& hard, const Quantities& used,
                     const Quantities& freed, const Quantities& taken) const {
    if (!can_be_refused(request_)) return {};
    std::vector<std::string> exceeded;
    Quantities requested;
    for (const auto& [name, amount] : taken) {
      Quantity more = amount;
      if (const Quantity* less = api::lookup(freed, name)) more -= *less;
      if (more.sign() <= 0) continue;
      api::entry(requested, name) = more;
      const Quantity* so_far = api::lookup(used, name);
      const Quantity sum = so_far == nullptr ? more : *so_far + more;
      if (sum > *api::lookup(hard, name)) exceeded.push_back(name);
    }
    if (exceeded.empty()) return {};
    return fail(forbidden(
        *request_.kind, request_.name,
        fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota.meta().name,
                    texts(requested, exceeded), texts(used, exceeded), texts(hard, exceeded))));
  }

  Context& context_;
  const api::Request& request_;
  const Account& account_;
};

void add_write(const api::Request& request, const api::Object* before, const api::Object* after,
               Account& account) {
  ObjectUse freed;
  ObjectUse taken;
  if (before != nullptr) freed = use_of(before->kind(), *before);
  if (after != nullptr && before == nullptr && &after->kind() == &api::kinds::pod() &&
      can_be_refused(request)) {
    api::Scratch scratch;
    const Json pod = api::document_in(scratch, *after);
    taken = use_of(after->kind(), pod);
    account.new_pods.push_back({.name = std::string(spoken_name(pod)),
                                .traits = taken.traits,
                                .unsaid = UnsaidResources(pod)});
  } else if (after != nullptr) {
    taken = use_of(after->kind(), *after);
  }
  if (freed == taken) return;
  api::add_to(account.sums[freed.traits].freed, freed.amounts);
  api::add_to(account.sums[taken.traits].taken, taken.amounts);
}

Accounts open_accounts(Context& context, const api::Request& request,
                       const store::Transaction& transaction) {
  Accounts accounts;
  for (const store::Write& write : transaction.writes) {
    const ObjectPtr before = write.expected.value == 0 ? nullptr : context.staging.get(write.key);
    const api::Object* known = write.object != nullptr ? write.object.get() : before.get();
    if (known == nullptr || !known->kind().namespaced) continue;
    const std::string& name_space = known->meta().name_space;
    const auto [at, is_new] = accounts.try_emplace(name_space);
    if (is_new)
      at->second.quotas = context.staging.list_newest(prefix_of(quota_kind(), name_space));
    if (!at->second.quotas.empty())
      add_write(request, before.get(), write.object.get(), at->second);
  }
  return accounts;
}

}  // namespace

const api::Kind& quota_kind() {
  static const api::Kind* const kKind = api::find_kind("", "ResourceQuota");
  CHECK(kKind != nullptr);
  return *kKind;
}

Result<void> charge_quotas(Context& context, const api::Request& request, Decision& decision) {
  std::vector<store::Write>& writes = decision.transaction.writes;
  if (writes.empty()) return {};
  std::set<std::string_view> written;  // quotas of the decision itself
  for (const store::Write& write : writes)
    if (write.key.starts_with(quota_kind().store_prefix)) written.insert(write.key);
  std::vector<store::Write> changed;
  for (const auto& [name_space, account] : open_accounts(context, request, decision.transaction)) {
    Charge charge(context, request, account);
    for (const ObjectPtr& quota : account.quotas) {
      std::string key = store::make_key(quota_kind(), name_space, quota->meta().name);
      if (written.contains(key)) continue;
      Result<std::shared_ptr<api::Object>> charged = charge.apply(*quota);
      if (!charged) {
        // No answer rests on what is not durable yet.
        context.staging.await_commit(prefix_of(quota_kind(), name_space));
        return fail(std::move(charged).error());
      }
      if (*charged != nullptr)
        changed.push_back({.key = std::move(key),
                           .object = *std::move(charged),
                           .expected = {},
                           .replaces = quota});
    }
  }
  // The answer to a deletion carries the revision of the last write.
  writes.insert(decision.deleted ? writes.begin() : writes.end(),
                std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
  return {};
}

void count_quota(Context& context, const api::Request& request, Json& quota, const Json* old) {
  if (request.kind != &quota_kind()) return;
  if (old != nullptr && api::part_of(*old, "spec") == api::part_of(quota, "spec") &&
      says_all_used(quota))
    return;
  Quantities used = context.usage == nullptr
                        ? count_namespace(context, request.name_space, quota)
                        : context.usage->count(context, request.name_space, quota);
  if (old == nullptr) api::add_to(used, masked(usage_of(quota_kind(), quota), hard_of(quota)));
  JsonObject& status = api::ensure_object(quota.get_object(), "status");
  if (!request.subresource.empty()) {  // what its writer says stays
    JsonObject& said = api::ensure_object(status, "used");
    for (const auto& [name, amount] : to_json(used)) said.emplace(name, amount);
    return;
  }
  status["hard"] = JsonObject(api::members(api::part_of(quota, "spec"), "hard"));
  status["used"] = to_json(used);
}

}  // namespace muster::server
