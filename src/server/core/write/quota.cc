#include "server/core/write/quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/scratch.h"
#include "base/check.h"
#include "server/core/request/errors.h"
#include "server/core/strategies/document.h"
#include "server/core/write/quota_usage.h"

namespace muster::server {
namespace {

using api::ObjectPtr;
using api::Quantities;
using api::Quantity;

std::string below(const api::Kind& kind, std::string_view name_space) {
  return fmt::format("{}/{}/", kind.store_prefix, name_space);
}

// One write as quotas see it.
struct Move {
  const api::Kind* kind;
  Json before;  // null: it is new
  Json after;   // null: it goes
};

JsonObject to_json(const Quantities& amounts) {
  JsonObject out;
  for (const auto& [name, amount] : amounts) out[name] = amount.text();
  return out;
}

Quantities hard_of(const Json& quota) {
  return api::read_quantities(api::find_object(api::part_of(quota, "spec"), "hard"));
}

// Only what the quota limits.
Quantities masked(const Quantities& usage, const Quantities& hard) {
  Quantities out;
  for (const auto& [name, amount] : usage)
    if (api::lookup(hard, name) != nullptr) out.emplace_back(name, amount);
  return out;
}

Quantities used_by(const QuotaScopes& scopes, const api::Kind& kind, const Json& document,
                   const Quantities& hard) {
  if (document.is_null() || !scopes.match(kind, document)) return {};
  return masked(usage_of(kind, document), hard);
}

// What the whole namespace uses of what the quota limits; less if `known`, which may be null, is
// exhausted on the way.
Quantities count_namespace(Context& context, std::string_view name_space, const Json& quota,
                           CountedUsage* known) {
  if (known != nullptr) known->count_for(api::part_of(quota, "spec"));
  const Quantities hard = hard_of(quota);
  const QuotaScopes scopes(api::part_of(quota, "spec"));
  Quantities used;
  for (const auto& [name, amount] : hard) used.emplace_back(name, Quantity());
  for (const api::Kind* kind : kinds_using(hard))
    for (const ObjectPtr& object : context.staging.list(below(*kind, name_space))) {
      const Quantities* before = known == nullptr ? nullptr : known->find(*object);
      if (before != nullptr) {
        api::add_to(used, *before);
        continue;
      }
      if (known != nullptr && !known->may_read()) return used;
      api::Scratch scratch;
      Quantities own = used_by(scopes, *kind, api::document_in(scratch, *object), hard);
      api::add_to(used, own);
      if (known != nullptr) known->keep(object, std::move(own));
    }
  return used;
}

// What the status says; counted again if it does not know all that is limited.
Quantities used_now(Context& context, const api::Object& quota, const Json& document,
                    const Quantities& hard) {
  Quantities used = masked(
      api::read_quantities(api::find_object(api::part_of(document, "status"), "used")), hard);
  if (used.size() == hard.size()) return used;
  return count_namespace(context, quota.meta().name_space, document, nullptr);
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
  Charge(Context& context, const api::Request& request, const std::vector<Move>& moves)
      : context_(context), request_(request), moves_(moves) {}

  // The new version of the quota; null if nothing changes.
  Result<std::shared_ptr<api::Object>> apply(const api::Object& quota) {
    Json document = quota.document();
    const Quantities hard = hard_of(document);
    const QuotaScopes scopes(api::part_of(document, "spec"));
    Quantities freed;
    Quantities taken;
    for (const Move& move : moves_) {
      api::add_to(freed, used_by(scopes, *move.kind, move.before, hard));
      api::add_to(taken, used_by(scopes, *move.kind, move.after, hard));
      TRY(check_said(quota, scopes, hard, move));
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
                          const Quantities& hard, const Move& move) const {
    if (move.kind != &api::kinds::pod() || !move.before.is_null() || !can_be_refused(request_) ||
        !scopes.match(*move.kind, move.after))
      return {};
    const std::string unsaid = unsaid_resources(hard, move.after);
    if (unsaid.empty()) return {};
    return fail(
        forbidden(*request_.kind, spoken_name(move.after),
                  fmt::format("failed quota: {}: must specify {}", quota.meta().name, unsaid)));
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
  const std::vector<Move>& moves_;
};

// The writes of the decision in namespaces that have quotas, by namespace.
struct Account {
  std::vector<ObjectPtr> quotas;
  std::vector<Move> moves;
};
using Accounts = std::map<std::string, Account, std::less<>>;

Accounts open_accounts(Context& context, const store::Transaction& transaction) {
  Accounts accounts;
  for (const store::Write& write : transaction.writes) {
    const ObjectPtr before = write.expected.value == 0 ? nullptr : context.staging.get(write.key);
    const api::Object* known = write.object != nullptr ? write.object.get() : before.get();
    if (known == nullptr || !known->kind().namespaced) continue;
    const std::string& name_space = known->meta().name_space;
    const auto [at, is_new] = accounts.try_emplace(name_space);
    if (is_new) at->second.quotas = context.staging.list_newest(below(quota_kind(), name_space));
    if (at->second.quotas.empty()) continue;
    at->second.moves.push_back(
        {.kind = &known->kind(),
         .before = before == nullptr ? Json() : before->document(),
         .after = write.object == nullptr ? Json() : write.object->document()});
  }
  return accounts;
}

}  // namespace

const api::Kind& quota_kind() {
  static const api::Kind* const kKind = api::find_kind("", "ResourceQuota");
  CHECK(kKind != nullptr);
  return *kKind;
}

void CountedUsage::count_for(const Json& quota_spec) {
  if (spec_ == quota_spec) return;
  uses_.clear();
  spec_ = quota_spec;
}

const Quantities* CountedUsage::find(const api::Object& object) const {
  const auto at = uses_.find(&object);
  return at == uses_.end() ? nullptr : &at->second.amounts;
}

bool CountedUsage::may_read() {
  exhausted_ = reads_left_ == 0;
  if (!exhausted_) --reads_left_;
  return !exhausted_;
}

Result<void> charge_quotas(Context& context, const api::Request& request, Decision& decision) {
  std::vector<store::Write>& writes = decision.transaction.writes;
  if (writes.empty()) return {};
  std::vector<store::Write> changed;
  for (const auto& [name_space, account] : open_accounts(context, decision.transaction)) {
    Charge charge(context, request, account.moves);
    for (const ObjectPtr& quota : account.quotas) {
      std::string key = store::make_key(quota_kind(), name_space, quota->meta().name);
      if (std::ranges::find(writes, key, &store::Write::key) != writes.end()) continue;
      Result<std::shared_ptr<api::Object>> charged = charge.apply(*quota);
      if (!charged) {
        // No answer rests on what is not durable yet.
        context.staging.list(below(quota_kind(), name_space));
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
  if (request.kind != &quota_kind() || !request.subresource.empty()) return;
  if (old != nullptr && api::part_of(*old, "spec") == api::part_of(quota, "spec")) return;
  Quantities used = count_namespace(context, request.name_space, quota, context.usage);
  if (old == nullptr) api::add_to(used, masked(usage_of(quota_kind(), quota), hard_of(quota)));
  JsonObject& status = api::ensure_object(quota.get_object(), "status");
  status["hard"] = JsonObject(api::members(api::part_of(quota, "spec"), "hard"));
  status["used"] = to_json(used);
}

}  // namespace muster::server
