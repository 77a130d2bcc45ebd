#include "scheduler/volumes/volume_use.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

// --- pods that hold a node, or are expected on one ---

void VolumeUse::add_pod(const api::ObjectPtr& pod, Row row, const VolumeBook& book,
                        Presence presence) {
  count_disks(row, pod->view<api::PodView>().needs.disks, 1);
  Counted counted{pod, row, book.attachments(*pod), claim_names(*pod)};
  count_attachments(counted, presence, 1);
  const PodKey key{presence, pod->meta().uid};
  for (std::string& claim : counted.claims) {
    claim = claim_key(pod->meta().name_space, claim);
    by_claim_[claim].insert(key);
    if (presence == Presence::Present) count_claim(claim, 1);
  }
  CHECK(pods_.emplace(key, std::move(counted)).second);
}

void VolumeUse::remove_pod(const api::Object& pod, Presence presence) {
  const PodKey key{presence, pod.meta().uid};
  const auto at = pods_.find(key);
  CHECK(at != pods_.end());
  const Counted counted = std::move(at->second);
  pods_.erase(at);
  count_disks(counted.row, counted.pod->view<api::PodView>().needs.disks, -1);
  count_attachments(counted, presence, -1);
  for (const std::string& claim : counted.claims) {
    if (presence == Presence::Present) count_claim(claim, -1);
    const auto users = by_claim_.find(claim);
    if (users == by_claim_.end()) continue;  // a claim that the pod names twice
    users->second.erase(key);
    if (users->second.empty()) by_claim_.erase(users);
  }
  drop_if_empty(counted.row);
}

std::vector<VolumeUse::Row> VolumeUse::recount(std::string_view claim, const VolumeBook& book) {
  std::vector<Row> changed;
  const auto users = by_claim_.find(claim);
  if (users == by_claim_.end()) return changed;
  for (const PodKey& key : users->second) {
    Counted& counted = pods_.at(key);
    std::vector<VolumeBook::PodAttachment> now = book.attachments(*counted.pod);
    if (now == counted.attachments) continue;
    count_attachments(counted, key.first, -1);
    counted.attachments = std::move(now);
    count_attachments(counted, key.first, 1);
    drop_if_empty(counted.row);
    changed.push_back(counted.row);
  }
  return changed;
}

void VolumeUse::count_attachments(const Counted& counted, Presence presence, int sign) {
  for (const VolumeBook::PodAttachment& attachment : counted.attachments)
    count_handle(counted.row, attachment.driver, attachment.handle, presence, sign);
}

void VolumeUse::count_handle(Row row, const std::string& driver, const std::string& handle,
                             Presence presence, int sign) {
  Driver& use = rows_[row].drivers[driver];
  Users& users = use.handles[handle];
  (presence == Presence::Present ? users.present : users.expected) += sign;
  if (users.present == 0 && users.expected == 0) use.handles.erase(handle);
  if (use.is_empty()) rows_[row].drivers.erase(driver);
}

void VolumeUse::count_disks(Row row, const std::vector<api::InlineDisk>& disks, int sign) {
  if (disks.empty()) return;
  std::vector<api::InlineDisk>& held = rows_[row].disks;
  for (const api::InlineDisk& disk : disks) {
    if (sign > 0) {
      held.push_back(disk);
      continue;
    }
    const auto at = std::ranges::find(held, disk);
    CHECK(at != held.end());
    held.erase(at);
  }
}

// A draft may take away first what a running pod holds, so a count may pass through 0.
void VolumeUse::count_claim(const std::string& claim, int sign) {
  if ((users_[claim] += sign) == 0) users_.erase(claim);
}

void VolumeUse::drop_if_empty(Row row) {
  if (const auto at = rows_.find(row); at != rows_.end() && at->second.is_empty()) rows_.erase(at);
}

// --- attachments ---

void VolumeUse::set_attachment(const std::string& name, Row row, std::string driver,
                               std::string handle) {
  remove_attachment(name);
  count_handle(row, driver, handle, Presence::Present, 1);
  attachments_.insert_or_assign(name, Attachment{row, std::move(driver), std::move(handle)});
}

std::optional<VolumeUse::Row> VolumeUse::remove_attachment(const std::string& name) {
  const auto at = attachments_.find(name);
  if (at == attachments_.end()) return std::nullopt;
  const Attachment gone = std::move(at->second);
  attachments_.erase(at);
  count_handle(gone.row, gone.driver, gone.handle, Presence::Present, -1);
  drop_if_empty(gone.row);
  return gone.row;
}

// --- tentative moves ---

void VolumeUse::place(const VolumeNeeds& volumes, const api::PodNeeds& needs, Row row, int sign) {
  count_disks(row, needs.disks, sign);
  for (const VolumeNeeds::Attached& attached : volumes.attached) {
    for (const std::string& handle : attached.handles)
      count_handle(row, attached.driver, handle, Presence::Present, sign);
    if (attached.own == 0) continue;
    Driver& use = rows_[row].drivers[attached.driver];
    use.own += sign * attached.own;
    if (use.is_empty()) rows_[row].drivers.erase(attached.driver);
  }
  for (const std::string& claim : volumes.exclusive) count_claim(claim, sign);
  drop_if_empty(row);
}

// --- answers ---

const VolumeUse::Driver* VolumeUse::find_driver(Row row, std::string_view driver) const {
  const auto at = rows_.find(row);
  if (at == rows_.end()) return nullptr;
  const auto use = at->second.drivers.find(driver);
  return use == at->second.drivers.end() ? nullptr : &use->second;
}

std::int64_t VolumeUse::attached(Row row, std::string_view driver, Counting counting) const {
  const Driver* use = find_driver(row, driver);
  if (use == nullptr) return 0;
  const auto is_held = [&](const auto& handle) { return handle.second.counted(counting) > 0; };
  return std::ranges::count_if(use->handles, is_held) + use->own;
}

bool VolumeUse::is_attached(Row row, std::string_view driver, std::string_view handle,
                            Counting counting) const {
  const Driver* use = find_driver(row, driver);
  if (use == nullptr) return false;
  const auto held = use->handles.find(handle);
  return held != use->handles.end() && held->second.counted(counting) > 0;
}

const std::vector<api::InlineDisk>* VolumeUse::disks_on(Row row) const {
  const auto at = rows_.find(row);
  return at == rows_.end() || at->second.disks.empty() ? nullptr : &at->second.disks;
}

int VolumeUse::users_of(std::string_view claim) const {
  const auto at = users_.find(claim);
  return at == users_.end() ? 0 : at->second;
}

bool VolumeUse::is_expected(Row row, std::string_view claim) const {
  const auto users = by_claim_.find(claim);
  if (users == by_claim_.end()) return false;
  for (const PodKey& key : users->second) {
    if (key.first != Presence::Expected) return false;
    if (pods_.at(key).row == row) return true;
  }
  return false;
}

// --- drafts ---

// Moves are undone last in first out. A running pod that the draft removes has no move here, and
// comes back without one.
void VolumeDraft::unplace(const VolumeNeeds& needs, Row row) {
  last_.clear();
  if (needs.delayed.empty()) return;
  if (moves_.empty() || moves_.back().needs != &needs || moves_.back().row != row) {
    removed_.emplace_back(&needs, row);
    return;
  }
  const Move move = std::move(moves_.back());
  moves_.pop_back();
  count(move, -1);
}

void VolumeDraft::count(const Move& move, int sign) {
  for (std::size_t i = 0; i < move.volumes.size(); ++i) {
    if (const api::Object* volume = move.volumes[i].volume.get()) {
      last_.push_back(volume);
      if ((taken_[volume] += sign) == 0) taken_.erase(volume);
    }
    const std::string& key = move.needs->delayed[i].key;
    if (key.empty()) continue;
    Given& given = given_[key];
    if (sign > 0 && given.pods == 0) given = {move.row, move.volumes[i], 0};
    if ((given.pods += sign) == 0) given_.erase(key);
  }
}

}  // namespace muster::scheduler
