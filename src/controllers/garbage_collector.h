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
// are known by uid: a later object of the same name is another. Keys are namespace and uid, so that
// namespaces take turns.
//
//   owner is gone               every owner of a dependent absent: delete it (background)
//   owner has foregroundDeletion  dependents are deleted; the last that blocks it sets it free
//   owner has orphan            dependents lose their reference; the last one sets it free
//
// Feeds of different kinds are not ordered with each other, so an owner that no feed has shown yet
// may still exist: before anything is deleted for lack of it, the API is asked.
//
// An owner may have a hundred thousand dependents: what concerns them all is done in slices, each a
// look of its own.
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
    auto from(const std::string& uid) const { return blocks_.lower_bound(uid); }
    std::size_t size() const { return blocks_.size(); }

   private:
    std::map<std::string, bool> blocks_;
    std::size_t blocking_ = 0;  // how many of them do
  };
  struct Node {
    api::ObjectPtr object;
    Dependents dependents;
    // How it is being deleted, if it is. Its finalizers are read once for each of its versions: it
    // may have twenty thousand, and each of its dependents asks.
    bool foreground = false;
    bool orphans = false;
  };
  // What is known about an owner reference.
  enum class Owner : std::uint8_t { Solid, Waiting, Absent, Unknown };

  static std::vector<Watch> watches(GarbageCollector& self);
  Keys on_object(const api::ObjectPtr& shown);
  Keys on_gone(const api::Object& object);
  // The key of a known object; for others it has no namespace and names
  // nothing.
  std::string key_of(const std::string& uid) const;
  // Makes all dependents of an object that may be gone due.
  std::string look_below(const api::Object& object);
  Keys waiting_owners(const api::Object& object) const;
  void go_on_below(const std::string& key, const std::string& uid, Time now);
  void link(const api::Object& object);
  Keys unlink(const api::Object& object);

  void reconcile(const std::string& key, Time now) override;
  Owner judge(const api::Object& dependent, const api::OwnerReference& reference) const;
  void decide_foreground(const Node& node);
  void decide_orphans(const Node& node, Time now);
  void decide_dependent(const Node& node);
  void ask_for_owner(const Node& node, const api::OwnerReference& reference);
  bool is_cycle(const Node& node) const;
  void change(const api::Object& object, api::Request request);
  void on_owner_answer(const std::string& key, const std::string& owner,
                       const client::Outcome& outcome, Time now);

  boost::unordered_flat_map<std::string, Node> nodes_;  // by uid; only looked up, never iterated
  // Dependents whose owner no feed has shown, or shows no longer, by the owner's uid.
  std::map<std::string, Dependents> waiting_for_;
  std::set<std::string> absent_;  // owners that are known to be gone; those somebody names
  std::map<std::string, std::string>
      below_;  // by uid: the dependent that look_below() goes on with
  // Owners that orphan their dependents, by uid.
  struct LettingGo {
    std::size_t under_way = 0;  // dependents that lose their reference
    bool failed = false;        // one of them did not
    std::string next = {};      // the dependent to go on with
  };
  std::map<std::string, LettingGo> letting_go_;
};

}  // namespace muster::controllers
