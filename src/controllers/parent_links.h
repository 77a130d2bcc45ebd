#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace muster::controllers {

// Which object names which as its parent, and whose parents lead back to itself. A change or a
// question costs O(log n) steps on average, however long a chain or a circle is: climbing would
// cost its length for each group that leaves.
//
//   c ──▶ b ──▶ a          a chain: b and a are used
//   e ──▶ d ⇄ f            d and f are on a circle: d is used by e, f by nobody but d above it
//
// Parents are links of a forest kept as a link-cut tree (Sleator and Tarjan): every node is on one
// path, every path is a splay tree in the order from its top. The link that would close a circle is
// kept aside, at the root of its tree.
class ParentLinks {
 public:
  ParentLinks() = default;
  ParentLinks(const ParentLinks&) = delete;
  ParentLinks& operator=(const ParentLinks&) = delete;

  // The parent of `key` from now on; empty: none. A parent need not exist. True if a circle is
  // closed by it.
  bool set_parent(const std::string& key, const std::string& parent);
  // A child that nothing names as its parent, and so is on no circle.
  void add_leaf(const std::string& parent);
  void remove_leaf(const std::string& parent);
  // Whether `key` waits to go.
  void set_leaving(const std::string& key, bool leaving);

  // Whether a group that is not above it names it as its parent.
  bool is_used(const std::string& key);
  // Those on the circle of `key` that wait to go and are not used, in the order of their keys. None
  // if it is on no circle.
  std::vector<std::string> free_on_circle(const std::string& key);

  std::size_t size() const { return nodes_.size(); }  // keys it remembers anything about
  // How many moves in its trees it has made so far.
  std::uint64_t steps() const { return steps_; }

 private:
  struct Node {
    const std::string* key = nullptr;
    Node* above = nullptr;  // the parent by name
    bool closes = false;    // the link to `above` closes a circle: it is in no tree
    bool leaving = false;
    std::size_t children = 0;  // links and leaves

    // Of the splay tree of its path: those nearer to the root of the tree of links are left. At the
    // top of a splay tree `up` is the node that the path hangs below, in another one.
    Node* up = nullptr;
    Node* left = nullptr;
    Node* right = nullptr;
    std::size_t lone_leavers = 0;  // below it in the splay tree, itself included

    // It goes if it is on a circle: the only child is then the one that is above it, too.
    bool is_lone_leaver() const { return leaving && children == 1; }
  };

  Node& node_at(const std::string& key);
  Node* find(const std::string& key);
  void drop_if_idle(Node& node);
  void change_children(Node& node, bool more);

  // Splay trees.
  static bool is_top(const Node& node);
  static void count(Node& node);
  void rotate(Node& node);
  void splay(Node& node);

  // Trees of links. Afterwards the path from the root of the tree to `node` is one splay tree, with
  // `node` at the top.
  void expose(Node& node);
  Node& root_of(Node& node);
  void link(Node& root, Node& above);
  void cut(Node& node);
  // The node whose link closes the circle that `node` is on; null if it is on none. The circle is
  // then one splay tree.
  Node* circle_of(Node& node);

  std::unordered_map<std::string, Node> nodes_;  // never iterated
  std::uint64_t steps_ = 0;
};

}  // namespace muster::controllers
