#include "controllers/parent_links.h"

#include <algorithm>

#include "base/check.h"

namespace muster::controllers {

bool ParentLinks::set_parent(const std::string& key, const std::string& parent) {
  if (Node* node = find(key); node != nullptr && node->above != nullptr) {
    Node& before = *node->above;
    if (*before.key == parent) return false;
    cut(*node);
    change_children(before, false);
    // Looked up again: it may have been its own parent, and is forgotten then.
    if (Node* still = find(key)) drop_if_idle(*still);
  }
  if (parent.empty()) return false;
  Node& child = node_at(key);
  Node& above = node_at(parent);
  child.above = &above;
  child.closes = &root_of(above) == &child;
  if (!child.closes) link(child, above);
  change_children(above, true);
  return child.closes;
}

void ParentLinks::add_leaf(const std::string& parent) { change_children(node_at(parent), true); }

void ParentLinks::remove_leaf(const std::string& parent) {
  Node* node = find(parent);
  CHECK(node != nullptr && node->children > 0);
  change_children(*node, false);
}

void ParentLinks::set_leaving(const std::string& key, bool leaving) {
  Node* known = find(key);
  if ((known != nullptr && known->leaving) == leaving) return;
  Node& node = known != nullptr ? *known : node_at(key);
  splay(node);  // so that nobody else counts it
  node.leaving = leaving;
  count(node);
  drop_if_idle(node);
}

// With one child there are two cases: it is on the circle of `key`, or there is no circle. With
// more, one of them is not above it.
bool ParentLinks::is_used(const std::string& key) {
  Node* node = find(key);
  if (node == nullptr || node->children == 0) return false;
  return node->children > 1 || circle_of(*node) == nullptr;
}

std::vector<std::string> ParentLinks::free_on_circle(const std::string& key) {
  std::vector<std::string> out;
  Node* node = find(key);
  if (node == nullptr || circle_of(*node) == nullptr) return out;
  splay(*node);
  std::vector<Node*> found;
  for (std::vector<Node*> open{node}; !open.empty();) {
    Node* next = open.back();
    open.pop_back();
    if (next == nullptr || next->lone_leavers == 0) continue;
    ++steps_;
    if (next->is_lone_leaver()) found.push_back(next);
    open.push_back(next->left);
    open.push_back(next->right);
  }
  for (Node* each : found) {
    splay(*each);  // a way down is paid for by making it shorter
    out.push_back(*each->key);
  }
  std::ranges::sort(out);
  return out;
}

ParentLinks::Node& ParentLinks::node_at(const std::string& key) {
  const auto at = nodes_.try_emplace(key).first;
  at->second.key = &at->first;
  return at->second;
}

ParentLinks::Node* ParentLinks::find(const std::string& key) {
  const auto at = nodes_.find(key);
  return at == nodes_.end() ? nullptr : &at->second;
}

// Without a parent and without children it stands alone, so nothing points at it.
void ParentLinks::drop_if_idle(Node& node) {
  if (node.above != nullptr || node.children > 0 || node.leaving) return;
  nodes_.erase(nodes_.find(*node.key));
}

void ParentLinks::change_children(Node& node, bool more) {
  splay(node);
  node.children = more ? node.children + 1 : node.children - 1;
  count(node);
  drop_if_idle(node);
}

bool ParentLinks::is_top(const Node& node) {
  return node.up == nullptr || (node.up->left != &node && node.up->right != &node);
}

void ParentLinks::count(Node& node) {
  node.lone_leavers = (node.is_lone_leaver() ? 1 : 0) +
                      (node.left == nullptr ? 0 : node.left->lone_leavers) +
                      (node.right == nullptr ? 0 : node.right->lone_leavers);
}

void ParentLinks::rotate(Node& node) {
  ++steps_;
  Node& parent = *node.up;
  const bool is_left = parent.left == &node;
  Node*& inner = is_left ? node.right : node.left;
  if (!is_top(parent)) (parent.up->left == &parent ? parent.up->left : parent.up->right) = &node;
  node.up = parent.up;
  (is_left ? parent.left : parent.right) = inner;
  if (inner != nullptr) inner->up = &parent;
  inner = &parent;
  parent.up = &node;
  count(parent);
  count(node);
}

void ParentLinks::splay(Node& node) {
  while (!is_top(node)) {
    Node& parent = *node.up;
    if (!is_top(parent)) {
      const bool in_line = (parent.up->left == &parent) == (parent.left == &node);
      rotate(in_line ? parent : node);
    }
    rotate(node);
  }
}

void ParentLinks::expose(Node& node) {
  Node* below = nullptr;
  for (Node* at = &node; at != nullptr; at = at->up) {
    ++steps_;
    splay(*at);
    at->right = below;
    count(*at);
    below = at;
  }
  splay(node);
}

ParentLinks::Node& ParentLinks::root_of(Node& node) {
  expose(node);
  Node* root = &node;
  for (; root->left != nullptr; root = root->left) ++steps_;
  splay(*root);
  return *root;
}

void ParentLinks::link(Node& root, Node& above) {
  expose(root);
  expose(above);
  CHECK(root.left == nullptr && root.up == nullptr);
  root.up = &above;
}

// A link that was kept aside goes into the tree if it closes no circle any more.
void ParentLinks::cut(Node& node) {
  node.above = nullptr;
  if (node.closes) {
    node.closes = false;
    return;
  }
  Node& root = root_of(node);
  expose(node);
  node.left->up = nullptr;
  node.left = nullptr;
  count(node);
  if (!root.closes || &root_of(*root.above) == &root) return;
  root.closes = false;
  link(root, *root.above);
}

// The circle is the path from the root to the one it names as its parent. That is the only path of
// its tree that hangs below nothing.
ParentLinks::Node* ParentLinks::circle_of(Node& node) {
  Node& root = root_of(node);
  if (!root.closes) return nullptr;
  expose(*root.above);
  splay(node);
  return node.up == nullptr ? &root : nullptr;
}

}  // namespace muster::controllers
