#include "controllers/protection.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace muster::controllers {
namespace {

using api::JsonArray;
using api::JsonObject;

// The uid makes sure that it is this object that is let go, not a later one of the same name.
api::Request remove_finalizer(const api::Object& object, const std::string& finalizer) {
  const api::ObjectMeta& meta = object.meta();
  return client::patch_request(
      object.kind(), meta.name_space, meta.name, "", api::PatchType::StrategicMerge,
      JsonObject{
          {"metadata", JsonObject{{"uid", meta.uid},
                                  {"$deleteFromPrimitiveList/finalizers", JsonArray{finalizer}}}}});
}

}  // namespace

Protection::Protection(std::string_view finalizer, client::Send send, Holds holds)
    : finalizer_(finalizer), calls_(std::move(send)), holds_(std::move(holds)) {}

void Protection::see(const client::Event& event) {
  const api::ObjectMeta& meta = event.object->meta();
  std::string key = api::key_text(meta);
  const bool has_finalizer =
      std::ranges::find(meta.finalizers, finalizer_) != meta.finalizers.end();
  if (event.type == client::Event::Type::Deleted || !meta.deletion_time || !has_finalizer) {
    deleting_.erase(key);
    return;
  }
  Deleting& entry = deleting_[key];
  if (entry.object != nullptr && entry.object->meta().uid != meta.uid) entry = {};
  entry.object = event.object;
  work_.add(std::move(key));
}

void Protection::set_use(const std::string& user, const std::string& object) {
  const auto at = uses_.find(user);
  if (at != uses_.end()) {
    if (at->second == object) return;
    const auto users = users_.find(at->second);
    users->second.erase(user);
    if (users->second.empty()) users_.erase(users);
    work_.add(at->second);
    uses_.erase(at);
  }
  if (object.empty()) return;
  uses_.emplace(user, object);
  users_[object].insert(user);
}

void Protection::look_again() {
  for (const auto& [key, entry] : deleting_) work_.add(key);
}

void Protection::take_in_outcome(const client::Called& called, Time now) {
  const std::optional<std::string> about = calls_.take(called);
  if (!about) return;
  const std::string& key = *about;
  const auto at = deleting_.find(key);
  if (called.outcome || at == deleting_.end()) return;
  const Error& error = called.outcome.error();
  if (error.reason == Reason::NotFound) return;
  log(LogLevel::Debug, "{} {}: cannot remove finalizer {}: {}; trying again",
      at->second.object->kind().kind, key, finalizer_, error.message);
  Deleting& entry = at->second;
  entry.asked = false;
  work_.retry(key, entry.backoff, now);
}

std::size_t Protection::run_once(Time now, std::size_t limit) {
  if (!started_) return 0;
  return work_.run(now, limit, [&](const std::string& key) { decide(key); });
}

std::optional<Time> Protection::next_deadline() const {
  return started_ ? work_.next_deadline() : std::nullopt;
}

bool Protection::used(const std::string& object) const {
  const auto users = users_.find(object);
  if (users == users_.end()) return false;
  return !holds_ || std::ranges::any_of(users->second, [&](const std::string& user) {
    return holds_(user, object);
  });
}

void Protection::decide(const std::string& object) {
  const auto at = deleting_.find(object);
  if (at == deleting_.end() || at->second.asked || used(object)) return;
  at->second.asked = true;
  calls_.send(remove_finalizer(*at->second.object, finalizer_), object);
}

}  // namespace muster::controllers
