#include "controllers/common/own_writes.h"

namespace muster::controllers {

void OwnWrites::wrote(const std::string& key, const std::string& uid, api::Revision revision,
                      Time now) {
  if (const auto gone = gone_.find(key); gone != gone_.end() && gone->second.contains(uid)) return;
  Missing& missing = missing_[key];
  missing.objects.insert_or_assign(uid, revision);
  missing.until = now + kPatience;
}

bool OwnWrites::showed(const std::string& key, const api::Object& object, Showing showing) {
  if (showing.gone && showing.under_way) gone_[key].insert(object.meta().uid);
  const auto at = missing_.find(key);
  if (at == missing_.end()) return false;
  const auto written = at->second.objects.find(object.meta().uid);
  if (written == at->second.objects.end()) return false;
  if (!showing.gone && object.revision() < written->second) return false;
  at->second.objects.erase(written);
  if (!at->second.objects.empty()) return false;
  missing_.erase(at);
  return true;
}

std::optional<Time> OwnWrites::wait_until(std::string_view key, Time now) {
  const auto at = missing_.find(key);
  if (at == missing_.end()) return std::nullopt;
  if (now < at->second.until) return at->second.until;
  missing_.erase(at);
  return std::nullopt;
}

}  // namespace muster::controllers
