#pragma once

#include <boost/container/flat_map.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/pod_view.h"
#include "scheduler/volumes/volume_book.h"

namespace muster::scheduler {

// What is attached where, and which claims are in use: by pods that hold a node, by attachments
// that outlive their pod, and by the tentative moves of a draft; and apart from these by pods that
// are only expected on a node. Rows are those of the node table.
class VolumeUse {
 public:
  using Row = std::uint32_t;

  // --- pods that hold a node, or are expected on one ---
  enum class Presence : std::uint8_t { Expected, Present };
  void add_pod(const api::ObjectPtr& pod, Row row, const VolumeBook& book,
               Presence presence = Presence::Present);
  void remove_pod(const api::Object& pod, Presence presence = Presence::Present);
  // A claim has changed: recounts the pods that use it. Returns the rows where attachments
  // changed.
  std::vector<Row> recount(std::string_view claim, const VolumeBook& book);

  // --- attachments, by name ---
  void set_attachment(const std::string& name, Row row, std::string driver, std::string handle);
  // The row it was on, if it was known.
  std::optional<Row> remove_attachment(const std::string& name);

  // --- tentative moves of pods of a class ---
  void place(const VolumeNeeds& volumes, const api::PodNeeds& needs, Row row, int sign);

  // --- answers ---
  // Volumes of a driver on a row, each once; with or without those of pods that are expected
  // there.
  enum class Counting : std::uint8_t { AsIs, WithExpected };
  std::int64_t attached(Row row, std::string_view driver, Counting counting = Counting::AsIs) const;
  bool is_attached(Row row, std::string_view driver, std::string_view handle,
                   Counting counting = Counting::AsIs) const;
  // Expected pods included: their disks only keep others away.
  const std::vector<api::InlineDisk>* disks_on(Row row) const;
  // How many pods that hold a node use the claim, and whether one is expected on the row that does.
  int users_of(std::string_view claim) const;
  bool is_expected(Row row, std::string_view claim) const;
  bool expects_any() const {
    return !pods_.empty() && pods_.begin()->first.first == Presence::Expected;
  }

 private:
  struct Users {
    int present = 0;
    int expected = 0;
    int counted(Counting counting) const {
      return counting == Counting::AsIs ? present : present + expected;
    }
  };
  struct Driver {
    boost::container::flat_map<std::string, Users, std::less<>> handles;
    std::int64_t own = 0;  // tentative ones that have no handle yet
    bool is_empty() const { return handles.empty() && own == 0; }
  };
  struct OnRow {
    boost::container::flat_map<std::string, Driver, std::less<>> drivers;
    std::vector<api::InlineDisk> disks;
    bool is_empty() const { return drivers.empty() && disks.empty(); }
  };
  struct Counted {
    api::ObjectPtr pod;
    Row row = 0;
    std::vector<VolumeBook::PodAttachment> attachments;
    std::vector<std::string> claims;
  };
  struct Attachment {
    Row row = 0;
    std::string driver;
    std::string handle;
  };

  using PodKey = std::pair<Presence, std::string>;  // and uid

  void count_handle(Row row, const std::string& driver, const std::string& handle,
                    Presence presence, int sign);
  const Driver* find_driver(Row row, std::string_view driver) const;
  void count_disks(Row row, const std::vector<api::InlineDisk>& disks, int sign);
  void count_claim(const std::string& claim, int sign);
  void count_attachments(const Counted& counted, Presence presence, int sign);
  void drop_if_empty(Row row);

  boost::unordered_flat_map<Row, OnRow> rows_;  // never iterated; few nodes have any
  std::map<PodKey, Counted> pods_;              // expected ones first
  std::map<std::string, std::set<PodKey>, std::less<>> by_claim_;  // expected ones first
  std::map<std::string, int, std::less<>> users_;                  // by claim; no expected ones
  std::map<std::string, Attachment, std::less<>> attachments_;
};

// Volumes that the tentative moves of a draft have chosen for claims that wait for their first
// consumer. Others see them as taken.
class VolumeDraft {
 public:
  using Row = VolumeUse::Row;

  // A pod of the class is placed on a node, or taken back in reverse order. `reaches` says
  // whether the node reaches a volume.
  template <typename Reaches>
  void place(const VolumeNeeds& needs, Row row, Reaches&& reaches);
  void unplace(const VolumeNeeds& needs, Row row);

  bool is_taken(const api::Object& volume) const { return taken_.contains(&volume); }
  // What a claim that several pods share was given by an earlier move; null: nothing yet.
  struct Given {
    Row row = 0;
    VolumeCandidate volume;  // null: one is to be made
    int pods = 0;
  };
  const Given* given(std::string_view claim) const {
    const auto at = given_.find(claim);
    return at == given_.end() ? nullptr : &at->second;
  }
  // The volumes that the last move took or gave back.
  const std::vector<const api::Object*>& last() const { return last_; }

 private:
  struct Move {
    const VolumeNeeds* needs;
    Row row;
    std::vector<VolumeCandidate> volumes;
  };
  void count(const Move& move, int sign);

  std::vector<Move> moves_;
  std::vector<std::pair<const VolumeNeeds*, Row>> removed_;  // that were never placed by the draft
  boost::container::flat_map<const api::Object*, int> taken_;
  std::map<std::string, Given, std::less<>> given_;
  std::vector<const api::Object*> last_;
};

// Volumes for a pod of the class on a row, on top of what the draft has given away. Nullopt: a
// claim that is shared with an earlier pod of the draft cannot be reached from there.
template <typename Reaches>
std::optional<VolumeChoice> choose_on(const VolumeDraft& draft, const VolumeNeeds& needs,
                                      VolumeDraft::Row row, Reaches&& reaches) {
  for (const DelayedClaim& claim : needs.delayed)
    if (const VolumeDraft::Given* given = claim.key.empty() ? nullptr : draft.given(claim.key)) {
      const bool same =
          given->volume.volume == nullptr ? given->row == row : reaches(given->volume);
      if (!same) return std::nullopt;
    }
  VolumeChoice choice = choose_volumes(needs, reaches, [&](const VolumeCandidate& candidate) {
    return draft.is_taken(*candidate.volume);
  });
  for (std::size_t i = 0; i < needs.delayed.size(); ++i)
    if (const VolumeDraft::Given* given =
            needs.delayed[i].key.empty() ? nullptr : draft.given(needs.delayed[i].key))
      choice.volumes[i] = given->volume;
  return choice;
}

template <typename Reaches>
void VolumeDraft::place(const VolumeNeeds& needs, Row row, Reaches&& reaches) {
  last_.clear();
  if (needs.delayed.empty()) return;
  const std::pair<const VolumeNeeds*, Row> key{&needs, row};
  for (auto at = removed_.begin(); at != removed_.end(); ++at)
    if (*at == key) {
      removed_.erase(at);
      return;
    }
  const std::optional<VolumeChoice> choice = choose_on(*this, needs, row, reaches);
  moves_.push_back(
      {&needs, row, choice ? choice->volumes : std::vector<VolumeCandidate>(needs.delayed.size())});
  count(moves_.back(), 1);
}

}  // namespace muster::scheduler
