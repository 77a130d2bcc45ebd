#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/framework/entity.h"

namespace muster::scheduler::witness {

// A small cluster and one tree of groups that wants to run there, in whole numbers: what the exact
// solver reasons about, what the product is asked, and what is printed if the two disagree.
struct Case {
  struct Node {
    std::string name;
    std::int64_t cpu = 1;
    std::int64_t gpu = 0;
    std::int64_t slots = 110;
    std::map<std::string, std::string> labels = {};  // zone, block, rack, host
    bool tainted = false;
    bool cordoned = false;
  };
  // What a pending pod asks for; every gang member is of one of a few shapes.
  struct Shape {
    std::int64_t cpu = 0;
    std::int64_t gpu = 0;
    bool tolerates = false;  // the taint and the cordon
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };
  struct Running {
    std::string name;
    std::string node;
    std::int64_t cpu = 0;
    std::int64_t gpu = 0;
    std::string group = {};  // empty: somebody else's
    bool succeeded = false;  // counts for its group, but holds nothing
  };
  struct Group {
    std::string name;
    bool composite = false;
    bool gang = true;
    std::int64_t minimum = 1;
    std::string key = {};
    std::vector<Shape> pods = {};  // pod i is called <name>-<i>
    std::vector<Group> children = {};
  };

  std::vector<Node> nodes;
  std::vector<Running> running;
  Group root;

  // In the manner of tests/scenarios.
  std::string text() const;
};

Case random_case(std::uint64_t seed);

// Every case that is one step simpler: a node, a pod, a group or a condition less.
std::vector<Case> simpler(const Case& from);

// The objects of a case, made once and put into as many clusters as a test likes.
struct Objects {
  explicit Objects(const Case& from);

  std::vector<api::ObjectPtr> nodes;
  std::vector<api::ObjectPtr> running;
  scheduler::Group root;

  // Adds nodes and pods in an order that the seed shuffles; 0: in their own order.
  void fill(Cluster& cluster, std::uint64_t order = 0) const;
};

}  // namespace muster::scheduler::witness
