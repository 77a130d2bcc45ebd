#include "scheduler/volumes/volume_use.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

// --- pods that hold a node ---

void VolumeUse::add_pod(const api::Object& pod, Row row, const VolumeBook& book) {
  count_disks(row, pod.view<api::PodView>().needs.disks, 1);
  Counted counted{row, book.attachments(pod), claim_names(pod)};
  for (std::string& claim : counted.claims) claim = claim_key(pod.meta().name_space, claim);
  count(counted, 1);
  for (const std::string& claim : counted.claims) by_claim_[claim].insert(pod.meta().uid);
  pods_.insert_or_assign(pod.meta().uid, std::move(counted));
}

void VolumeUse::remove_pod(const api::Object& pod, Row row) {
  count_disks(row, pod.view<api::PodView>().needs.disks, -1);
  const auto at = pods_.find(pod.meta().uid);
  CHECK(at != pods_.end());
  count(at->second, -1);
  for (const std::string& claim : at->second.claims) {
    std::set<std::string, std::less<>>& uids = by_claim_[claim];
    uids.erase(pod.meta().uid);
    if (uids.empty()) by_claim_.erase(claim);
  }
  pods_.erase(at);
  drop_if_empty(row);
}

std::vector<std::string> VolumeUse::pods_of(std::string_view claim) const {
  const auto at = by_claim_.find(claim);
  if (at == by_claim_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

std::optional<VolumeUse::Row> VolumeUse::recount(std::string_view uid, const api::Object& pod,
                                                 const VolumeBook& book) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return std::nullopt;
  std::vector<VolumeBook::PodAttachment> now = book.attachments(pod);
  if (now == at->second.attachments) return std::nullopt;
  for (const auto& gone : at->second.attachments)
    count_handle(at->second.row, gone.driver, gone.handle, -1);
  for (const auto& come : now) count_handle(at->second.row, come.driver, come.handle, 1);
  at->second.attachments = std::move(now);
  drop_if_empty(at->second.row);
  return at->second.row;
}

void VolumeUse::count(const Counted& counted, int sign) {
  for (const VolumeBook::PodAttachment& attachment : counted.attachments)
    count_handle(counted.row, attachment.driver, attachment.handle, sign);
  for (const std::string& claim : counted.claims) count_claim(claim, sign);
}

void VolumeUse::count_handle(Row row, const std::string& driver, const std::string& handle,
                             int sign) {
  Driver& use = rows_[row].drivers[driver];
  if ((use.handles[handle] += sign) == 0) use.handles.erase(handle);
  if (use.handles.empty() && use.own == 0) rows_[row].drivers.erase(driver);
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
  count_handle(row, driver, handle, 1);
  attachments_.insert_or_assign(name, Attachment{row, std::move(driver), std::move(handle)});
}

std::optional<VolumeUse::Row> VolumeUse::remove_attachment(const std::string& name) {
  const auto at = attachments_.find(name);
  if (at == attachments_.end()) return std::nullopt;
  const Attachment gone = std::move(at->second);
  attachments_.erase(at);
  count_handle(gone.row, gone.driver, gone.handle, -1);
  drop_if_empty(gone.row);
  return gone.row;
}

// --- tentative moves ---

void VolumeUse::place(const VolumeNeeds& volumes, const api::PodNeeds& needs, Row row, int sign) {
  count_disks(row, needs.disks, sign);
  for (const VolumeNeeds::Attached& attached : volumes.attached) {
    for (const std::string& handle : attached.handles)
      count_handle(row, attached.driver, handle, sign);
    if (attached.own == 0) continue;
    Driver& use = rows_[row].drivers[attached.driver];
    use.own += sign * attached.own;
    if (use.handles.empty() && use.own == 0) rows_[row].drivers.erase(attached.driver);
  }
  for (const std::string& claim : volumes.exclusive) count_claim(claim, sign);
  drop_if_empty(row);
}

// --- answers ---

std::int64_t VolumeUse::attached(Row row, std::string_view driver) const {
  const auto at = rows_.find(row);
  if (at == rows_.end()) return 0;
  const auto use = at->second.drivers.find(driver);
  if (use == at->second.drivers.end()) return 0;
  const auto is_held = [](const auto& handle) { return handle.second > 0; };
  return std::ranges::count_if(use->second.handles, is_held) + use->second.own;
}

bool VolumeUse::is_attached(Row row, std::string_view driver, std::string_view handle) const {
  const auto at = rows_.find(row);
  if (at == rows_.end()) return false;
  const auto use = at->second.drivers.find(driver);
  if (use == at->second.drivers.end()) return false;
  const auto held = use->second.handles.find(handle);
  return held != use->second.handles.end() && held->second > 0;
}

const std::vector<api::InlineDisk>* VolumeUse::disks_on(Row row) const {
  const auto at = rows_.find(row);
  return at == rows_.end() || at->second.disks.empty() ? nullptr : &at->second.disks;
}

int VolumeUse::users_of(std::string_view claim) const {
  const auto at = users_.find(claim);
  return at == users_.end() ? 0 : at->second;
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
