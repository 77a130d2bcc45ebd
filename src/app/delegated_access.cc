#include "app/delegated_access.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <variant>

#include "api/kinds/kind.h"
#include "base/check.h"

namespace muster::app {
namespace {

api::Request review(std::string_view group, std::string_view kind, api::JsonObject spec) {
  const api::Kind* const found = api::find_kind(group, kind);
  CHECK(found != nullptr);
  return client::create_request(
      *found, "", api::JsonObject{{"metadata", api::JsonObject{}}, {"spec", std::move(spec)}});
}

// What the server wrote into the review; null if it did not.
const api::Json* status_of(const client::Outcome& outcome) {
  if (!outcome) return nullptr;
  const auto* const answer = std::get_if<api::DocumentAnswer>(&outcome->what);
  return answer == nullptr ? nullptr : api::find(answer->document, "status");
}

bool is_true(const api::Json& owner, std::string_view member) {
  const api::Json* const found = api::find(owner, member);
  return found != nullptr && found->is_bool() && found->get_bool();
}

DelegatedAccess::Answer unasked(const client::Outcome& outcome) {
  return {DelegatedAccess::Access::Unknown,
          fmt::format("the API server does not say who may read this: {}\n",
                      outcome ? "it answered with something else" : outcome.error().message)};
}

}  // namespace

template <typename Value>
const Value* DelegatedAccess::find(const Cache<Value>& cache, const std::string& key) const {
  const auto at = cache.find(key);
  return at == cache.end() || at->second.until <= clock_.now() ? nullptr : &at->second.value;
}

template <typename Value>
void DelegatedAccess::store(Cache<Value>& cache, const std::string& key, Value value) const {
  if (cache.size() >= kCachedMax) cache.clear();
  cache.insert_or_assign(key, Cached<Value>{std::move(value), clock_.now() + kCachedFor});
}

DelegatedAccess::User DelegatedAccess::user_in(const client::Outcome& outcome) {
  const api::Json* const status = status_of(outcome);
  if (status == nullptr || !is_true(*status, "authenticated")) return {};
  const api::Json* const found = api::find(*status, "user");
  if (found == nullptr) return {};
  User user{.name = std::string(api::find_string(*found, "username")),
            .uid = std::string(api::find_string(*found, "uid"))};
  if (const api::JsonArray* groups = api::find_array(*found, "groups")) user.groups = *groups;
  if (const api::JsonObject* extra = api::find_object(*found, "extra")) user.extra = *extra;
  return user;
}

void DelegatedAccess::check(const std::string& bearer, const std::string& path, Done done) {
  if (bearer.empty())
    return authorize({.name = "system:anonymous", .groups = {"system:unauthenticated"}}, path,
                     std::move(done));
  const auto go_on = [this, path](const User& user, Done then) {
    if (user.name.empty()) return then({Access::Unauthorized, "Unauthorized\n"});
    authorize(user, path, std::move(then));
  };
  std::unique_lock lock(mutex_);
  if (const User* known = find(users_, bearer)) {
    const User user = *known;
    lock.unlock();
    return go_on(user, std::move(done));
  }
  lock.unlock();
  client_.send(review("authentication.k8s.io", "TokenReview", {{"token", bearer}}),
               [this, bearer, go_on, done = std::move(done)](const client::Outcome& outcome) {
                 if (status_of(outcome) == nullptr) return done(unasked(outcome));
                 const User user = user_in(outcome);
                 {
                   const std::lock_guard guard(mutex_);
                   store(users_, bearer, user);
                 }
                 go_on(user, done);
               });
}

void DelegatedAccess::authorize(const User& user, const std::string& path, Done done) {
  api::JsonObject spec{{"user", user.name},
                       {"groups", user.groups},
                       {"nonResourceAttributes", api::JsonObject{{"path", path}, {"verb", "get"}}}};
  if (!user.uid.empty()) spec["uid"] = user.uid;
  if (!user.extra.empty()) spec["extra"] = user.extra;
  const std::string key = api::to_text(spec);
  std::unique_lock lock(mutex_);
  if (const Answer* known = find(verdicts_, key)) {
    const Answer answer = *known;
    lock.unlock();
    return done(answer);
  }
  lock.unlock();
  Answer refusal{Access::Forbidden,
                 fmt::format("forbidden: User \"{}\" cannot get path \"{}\"\n", user.name, path)};
  client_.send(review("authorization.k8s.io", "SubjectAccessReview", std::move(spec)),
               [this, key, refusal = std::move(refusal),
                done = std::move(done)](const client::Outcome& outcome) {
                 const api::Json* const status = status_of(outcome);
                 if (status == nullptr) return done(unasked(outcome));
                 const Answer answer =
                     is_true(*status, "allowed") ? Answer{Access::Allowed, ""} : refusal;
                 {
                   const std::lock_guard guard(mutex_);
                   store(verdicts_, key, answer);
                 }
                 done(answer);
               });
}

}  // namespace muster::app
