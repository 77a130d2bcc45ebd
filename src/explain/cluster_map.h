#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/objects.h"

namespace muster::explain {

// Who uses a cluster: all pods of one tree of groups, or all that belong to none.
struct Tenant {
  std::string name;  // "podgroup default/train"; empty: pods outside groups
  char sign = '+';   // stands for it on the map
  std::int64_t pods = 0;
  std::int64_t amount = 0;
  std::int64_t nodes = 0;
};

// How much of the resource of a node, or of all nodes of a domain, is used and by whom.
struct Usage {
  std::int64_t total = 0;
  std::int64_t used = 0;
  // Number of the tenant, amount; by number.
  std::vector<std::pair<std::size_t, std::int64_t>> by_tenant;

  std::int64_t free() const { return total > used ? total - used : 0; }
  void add(std::size_t tenant, std::int64_t amount);
  void add(const Usage& other);
};

struct MapNode {
  std::string name;
  Usage usage = {};
  bool closed = false;  // cordoned, or not Ready
};

// A zone, a block, a rack: domains, or nodes if it is of the lowest level.
struct MapDomain {
  std::string name;  // the value of the label; "(none)" for nodes that lack it
  Usage usage;
  std::int64_t node_count = 0;
  std::vector<MapDomain> domains;
  std::vector<MapNode> nodes;
};

// What is where. A value: render_map() draws it.
struct ClusterMap {
  std::string resource;             // what is counted
  std::int64_t unit = 1;            // amounts are in 1/unit of it: 1000 for cpu
  std::vector<std::string> levels;  // label keys, widest first; only those that some node has
  MapDomain all;
  std::vector<Tenant> tenants;  // the greatest amount first; pods outside groups last
  std::int64_t waiting = 0;     // pods without a node
  std::int64_t empty_nodes = 0;
  std::int64_t free_on_empty = 0;
};

struct MapOptions {
  std::string resource = {};             // empty: GPUs, or what else there is
  std::vector<std::string> levels = {};  // empty: zone, block, rack
};

// Draws up the map of a cluster. Costs as much as there are nodes and pods, times the levels.
ClusterMap map_of(const Objects& objects, const MapOptions& options);

// What is wrong with the options for this cluster: a resource or a label that no node has, a depth
// that is not a level; with the names that were perhaps meant. Empty if nothing is.
std::string wrong_option(const Objects& objects, const MapOptions& options, std::string_view depth);

// "r2" before "r10": numbers inside names count as numbers.
bool natural_less(std::string_view a, std::string_view b);

// How a map is drawn.
struct MapStyle {
  std::size_t width = 0;   // columns; 0: as many as it takes
  std::size_t height = 0;  // lines: levels are folded until it fits; 0: no limit
  bool colours = false;
  std::string depth = {};  // the level to show: its key or last word ("rack"), or "node"; empty: as
                           // deep as fits
};
// The text, every line ended.
std::string render_map(const ClusterMap& map, const MapStyle& style);

}  // namespace muster::explain
