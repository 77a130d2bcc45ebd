#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/kit/controller.h"

namespace muster::controllers {

// Deletes what has lost all its owners, and lets owners go that wait for their dependents. Objects
// and keys are known by uid: a later object of the same name is another.
//
//   owner is gone               every owner of a dependent absent: delete it (background)
//   owner has foregroundDeletion  dependents are deleted; the last that blocks it sets it free
//   owner has orphan            dependents lose their reference; the last one sets it free
//
// Feeds of different kinds are not in order with each other, so an owner that no feed has shown yet
// may still exist: before anything is deleted for the lack of it, the API is asked.
class GarbageCollector final : public client::Controller {
 public:
  explicit GarbageCollector(client::ComponentContext context);

 private:
  // Who names one object as its owner.
  class Dependents {
   public:
    void put(const std::string& uid, bool blocks);
    void erase(const std::string& uid);
    bool empty() const { return blocks_.empty(); }
    // Whether one of them wants the owner to wait for it.
    bool block() const { return blocking_ > 0; }
    auto begin() const { return blocks_.begin(); }  // by uid: whether it blocks the owner
    auto end() const { return blocks_.end(); }

   private:
    std::map<std::string, bool> blocks_;
    std::size_t blocking_ = 0;  // how many of them do
  };
  struct Node {
    api::ObjectPtr object;
    Dependents dependents;
  };
  // What is known of an owner reference.
  enum class Owner : std::uint8_t { Solid, Waiting, Absent, Unknown };

  static std::vector<Watch> watches(GarbageCollector& self);
  Keys on_object(const api::ObjectPtr& shown);
  Keys on_gone(const api::Object& object);
  static void append(Keys& keys, const Dependents& dependents);
  void link(const api::Object& object);
  Keys unlink(const api::Object& object);

  void reconcile(const std::string& key, Time now) override;
  Owner judge(const api::Object& dependent, const api::OwnerReference& reference) const;
  void decide_foreground(const Node& node);
  void decide_orphans(const Node& node, Time now);
  void decide_dependent(const Node& node);
  void ask_for_owner(const Node& node, const api::OwnerReference& reference);
  bool is_cycle(const Node& node) const;
  void change(const std::string& uid, api::Request request);
  void on_owner_answer(const std::string& uid, const std::string& owner,
                       const client::Outcome& outcome, Time now);

  boost::unordered_flat_map<std::string, Node> nodes_;  // by uid; only looked up, never iterated
  // Dependents whose owner no feed has shown, or shows no longer, by the owner's uid.
  std::map<std::string, Dependents> waiting_for_;
  std::set<std::string> absent_;  // owners that are known to be gone; those somebody names
};

}  // namespace muster::controllers
