#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/profile.h"
#include "scheduler/plugins/default_profile.h"
#include "twin/naive_scheduler.h"

namespace muster::scheduler::twin {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  const std::string& any(const std::vector<std::string>& words) {
    return words[below(words.size())];
  }

 private:
  std::mt19937_64 random_;
};

// One thing that happens to a cluster; Look: now product and twin are compared.
struct Change {
  enum class Kind : std::uint8_t {
    SetNode,
    RemoveNode,
    SetPod,
    AssumePod,
    RemovePod,
    KeepFor,       // the node is kept for the pod
    SetNamespace,  // name and labels are those of `node`
    SetObject,     // about storage, or a Service or set of pods
    RemoveObject,
    Look
  };
  Kind kind = Kind::Look;
  NodeSample node = {.name = {}};
  PodSample pod = {.name = {}};  // its node is in node_name, also of an assumed one
  api::ObjectPtr object = {};
};

// A move on a draft: a pod of one of the shapes goes where the product says it is best; or a
// checkpoint is set, or the last one undone.
struct Move {
  enum class Kind : std::uint8_t { Place, Mark, Undo };
  Kind kind = Kind::Place;
  std::size_t shape = 0;
  std::string zone = {};  // empty: anywhere
};

// All that a case is made of, so that parts of it can be left out.
struct Script {
  std::vector<Change> history;
  std::vector<PodSample> pods;  // who asks
  std::vector<Move> moves;

  std::vector<api::ObjectPtr> asking() const;  // the pods as objects
  std::string text() const;
};

Script random_script(std::uint64_t seed);
// Claims, volumes, drivers and disks; images and features; Services and sets.
Script random_storage_script(std::uint64_t seed);
// The same as either, with nodes that are kept for pods that are to come.
Script random_script_with_kept_nodes(std::uint64_t seed);
std::vector<Script> simpler(const Script& from);

NodeSample random_node(Dice& dice);
PodSample random_pod(Dice& dice, const std::string& name);

// The product's cluster and the twin's, fed the same changes.
struct World {
  Cluster cluster;
  NaiveScheduler naive;
  Profile profile = default_profile();

  World() { cluster.set_default_spread_keys(profile.settings().default_spread_keys); }
  // With default spread constraints from a list.
  explicit World(const std::vector<NaiveScheduler::DefaultSpread>& defaults);

  void apply(const Change& change);
  void apply_all(const Script& script) {
    for (const Change& change : script.history) apply(change);
  }
  // They wait: what they name is in use by them too.
  void ask(const std::vector<api::ObjectPtr>& pods);

 private:
  void apply_pod(const Change& change);
  void apply_object(const Change& change);
};

}  // namespace muster::scheduler::twin
