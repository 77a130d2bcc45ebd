#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The objects a run creates, as JSON text: the shapes of upstream's scheduler_perf.
namespace muster::loader {

// All that a run makes carries this label with the run's name, so that it can be removed again.
inline constexpr std::string_view kRunLabel = "loader.muster.dev/run";

struct PodShape {
  std::string run;           // also the prefix of names
  std::string cpu = "100m";  // requests, as in scheduler_perf's default pod
  std::string memory = "500Mi";
  std::string scheduler = {};  // empty: the default one
  std::string group = {};      // empty: a lone pod
  std::string node = {};       // empty: a scheduler chooses one
};
std::string pod_json(const PodShape& shape, std::string_view name);

struct GroupShape {
  std::string run;
  std::string version = "v1beta1";
  std::size_t min_count = 1;
  std::string topology_key = {};  // empty: anywhere
};
std::string group_json(const GroupShape& shape, std::string_view name);

struct JobShape {
  std::string run;
  std::size_t size = 1;  // parallelism and completions
  bool gang = false;
};
// Its pods never end by themselves on pretend nodes.
std::string job_json(const JobShape& shape, std::string_view name);

// A tree of gangs: the whole, its replicatedJobs, each of their Jobs.
struct JobSetShape {
  std::string run;
  std::size_t replicated_jobs = 1;
  std::size_t replicas = 1;  // Jobs of each
  std::size_t size = 1;      // pods of each Job

  std::size_t pods() const { return replicated_jobs * replicas * size; }
};
std::string job_set_json(const JobSetShape& shape, std::string_view name);

struct NodeShape {
  std::string run;
  std::size_t nodes_per_rack = 100;
  std::string cpu = "32";
  std::string memory = "256Gi";
  std::size_t pods = 110;
};
std::string node_json(const NodeShape& shape, std::size_t number);

std::string config_map_json(std::string_view run, std::string_view name, std::string_view value);
std::string namespace_json(std::string_view name);

}  // namespace muster::loader
