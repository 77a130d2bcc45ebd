#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "crowd.h"
#include "process_meter.h"
#include "report.h"
#include "shapes.h"

namespace muster::loader {

// What all modes share.
struct Options {
  std::size_t connections = 64;
  std::string name_space = "muster-loader";
  std::vector<pid_t> pids;  // the server's processes, if they run here
  std::size_t nodes = 0;    // to create; 0: use the cluster's own
  std::size_t nodes_per_rack = 100;
  std::size_t patience_s = 120;  // for the last pod to be bound, the last event to come
  bool clean = false;
};

// One run against one cluster: makes the place where it works, measures, and removes what it
// made.
class Session {
 public:
  Session(Crowd& crowd, Options options);

  Crowd& crowd() { return crowd_; }
  const Options& options() const { return options_; }
  const std::string& run() const { return run_; }
  std::string node_name(std::size_t number) const;  // of those that this run makes

  // Makes the namespace, waits until pods can be created in it, makes the nodes.
  Result<void> prepare();
  // Deletes what carries this run's label, and the namespace if this run made it.
  void clean_objects();
  void clean_all();

  // .../api/v1/namespaces/NS/<resource>, or the same in scheduling.k8s.io for groups.
  std::string path(std::string_view resource) const;
  std::string group_path() const;
  const std::string& group_version() const { return group_version_; }

  // Creates objects 0…count-1 of one kind over `connections`; refusals make the report fail.
  using Body = std::function<std::string(std::size_t number)>;
  void create(Report& report, const std::string& path, std::size_t count, const Body& body,
              const std::function<void(std::size_t, const Answered&)>& done = {});

 private:
  void delete_run(const std::string& path);

  Crowd& crowd_;
  const Options options_;
  const std::string run_;
  std::string group_version_;
  bool made_namespace_ = false;
};

// What the server used between construction and add_to().
class Meter {
 public:
  explicit Meter(Session& session);
  // Per 1,000 of `count` things done, and what failed meanwhile.
  void add_to(Report& report, std::size_t count, std::string_view things);
  double seconds() const;

 private:
  Session& session_;
  const SteadyTime start_;
  const Usage before_;
  const double own_before_;
};

// Reads watch events and objects by looking for members in the text, without parsing it: the loader
// shares its machine with the server.
bool is_added(std::string_view event);
// The number of the object this run made under `prefix`; npos if it is another's.
std::size_t number_in(std::string_view event, std::string_view prefix);

}  // namespace muster::loader
