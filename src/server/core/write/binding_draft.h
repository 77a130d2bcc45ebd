#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "base/error.h"
#include "base/time.h"
#include "server/core/write/context.h"
#include "store/store.h"

namespace muster::server {

// The writes one GroupBinding leads to, prepared item by item, and every objection to them. Items
// are the pods, the nominations and the conditions of its spec, in this order.
//
// Preparing is the costly part: a pod is parsed, edited and written. It may be spread over slices,
// since find_stale() says cheaply which items must be prepared again.
class BindingDraft {
 public:
  // `spec` is valid and outlives this.
  BindingDraft(std::string name_space, const api::Json& spec);

  std::size_t size() const { return pods_.size() + conditions_.size(); }

  // Finds the root of the tree. Before the first prepare(), and before find_stale().
  void find_root(Context& context);
  // Reads the item's object and prepares its write. Adds a cause if it cannot be written.
  void prepare(Context& context, std::size_t item);
  // What prepare() made for the item; null if it is a condition, or nothing will be written.
  api::ObjectPtr prepared(std::size_t item) const;
  // The items whose objects have changed since they were prepared. Adds a cause for each item whose
  // node or place in the tree is gone.
  std::vector<std::size_t> find_stale(Context& context);

  // The objections; empty if there are none.
  std::vector<Cause>& causes() { return causes_; }
  std::int64_t bound() const;
  // The newest revision among the objects that are named.
  api::Revision newest() const;
  // All the writes, together. Call it once.
  store::Transaction finish();

 private:
  enum class Task : std::uint8_t { Bind, Nominate };
  struct Pod {
    Task task;
    const api::Json* item;
    std::string field;                               // "spec.pods[3]"
    api::ObjectPtr seen = nullptr;                   // as it was when it was prepared
    std::shared_ptr<api::Object> written = nullptr;  // null: nothing to write
    std::string leaf = {};                           // its PodGroup; empty if it has none
  };
  struct Condition {
    const api::Json* item;
    std::string field;
  };
  struct Edit {
    api::ObjectPtr seen;
    api::Json document;
    bool changed = false;
  };

  void add_cause(std::string_view type, std::string field, std::string message);
  std::string key_of(const api::Kind& kind, std::string_view name) const;
  api::ObjectPtr find_object(Context& context, const api::Kind& kind, std::string_view name) const;
  api::ObjectPtr find_group(Context& context, const api::Json& reference, std::string field);
  bool in_tree(Context& context, const api::Kind& kind, std::string_view name);
  bool node_exists(Context& context, std::string_view name);

  void prepare_pod(Context& context, Pod& pod);
  bool check_pod(Context& context, const Pod& pod, const api::Json& document);
  // The two things beyond the pod itself that it needs.
  void check_surroundings(Context& context, const Pod& pod);
  void write_pod(Pod& pod, api::Json& document, Time now);
  bool check_membership(Context& context, const Condition& condition);
  void prepare_condition(Context& context, const Condition& condition);

  const std::string name_space_;
  const api::Json& spec_;
  std::vector<Pod> pods_;
  std::vector<Condition> conditions_;
  std::map<std::string, Edit> groups_;  // by key
  std::string root_uid_;                // empty: the root is gone, and a cause says so
  std::vector<Cause> causes_;
  // What is known about the present state; forgotten by find_root().
  std::map<std::string, bool, std::less<>> in_tree_;
  std::map<std::string, bool, std::less<>> nodes_;
};

}  // namespace muster::server
