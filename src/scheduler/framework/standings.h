#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// The standings of all classes seen lately under one profile; least recently used ones go when they
// take more than the budget. Kept beside the cluster it describes.
class Standings final : public Cluster::Derived {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  Standings(Cluster& cluster, const Profile& profile) : cluster_(cluster), profile_(profile) {}
  // The one that belongs to this cluster and profile.
  static Standings& of(Cluster& cluster, const Profile& profile);

  const Profile& profile() const { return profile_; }
  // The standing of the pod's class, caught up. Valid until the next call to evict_cold().
  Standing& of_pod(const api::ObjectPtr& pod);
  Standing& of_class(const PodClass& pods);
  // The best node for one pod, see Standing::pick_once. The standing may not be built afterwards.
  std::optional<Standing::Pick> pick(const api::ObjectPtr& pod);
  // Frees what exceeds the budget. To be called between attempts.
  void evict_cold();
  // Frees those of classes that keep columns which no node offers any more.
  void release_idle() override;
  void set_bytes_max(std::size_t bytes) { bytes_max_ = bytes; }
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return live_.size(); }
  // Rows of the table that all of them have looked at so far.
  std::uint64_t rows_read() const { return rows_read_; }

 private:
  struct Entry {
    Entry(const PodClass& pods, const Profile& profile, Cluster& cluster)
        : id(pods.id), standing(pods, profile, cluster) {}
    ClassId id;
    std::size_t bytes = 0;  // counted when it had read `weighed_at` rows
    std::uint64_t weighed_at = 0;
    std::uint64_t rows_read = 0;  // so many of its rows are counted
    Standing standing;
  };
  // What a standing holds changes with the rows it reads; asking every pass for it after each pod
  // would cost more than the few rows that changed.
  static constexpr std::uint64_t kRowsPerWeighing = 256;

  Entry& use(const PodClass& pods);
  void count(Entry& entry);
  std::list<Entry>::iterator evict(std::list<Entry>::iterator at);

  Cluster& cluster_;
  Profile profile_;
  std::size_t bytes_max_ = kBytesMax;
  std::size_t bytes_ = 0;
  std::uint64_t rows_read_ = 0;
  Standing::Scratch scratch_;
  std::list<Entry> live_;                          // the last used first
  std::vector<std::list<Entry>::iterator> place_;  // by ClassId; live_.end(): none
};

}  // namespace muster::scheduler
