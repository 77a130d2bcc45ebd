#pragma once

#include <boost/container/flat_map.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/column.h"
#include "scheduler/cache/copying.h"
#include "scheduler/cache/ids.h"
#include "scheduler/cache/label_column.h"
#include "scheduler/cache/node_set.h"
#include "scheduler/cache/pod_class.h"
#include "scheduler/cache/pod_labels.h"
#include "scheduler/cache/pod_log.h"
#include "scheduler/cache/resource_table.h"
#include "scheduler/cache/row_log.h"
#include "scheduler/cache/selector_book.h"
#include "scheduler/cache/term_book.h"
#include "scheduler/cache/text_hash.h"
#include "scheduler/volumes/volume_book.h"
#include "scheduler/volumes/volume_use.h"

namespace muster::scheduler {

// The members of one PodGroup that hold a node or have finished.
struct GroupMembers {
  // Running or assumed, and not terminating: how many per node.
  boost::container::flat_map<NodeId, std::int32_t> running;
  std::int32_t running_total = 0;
  std::int32_t succeeded = 0;
};

// The cluster as the scheduler believes it: a table of nodes in columns, the pods on them, interned
// taints and labels, topology cells, pod classes. Owned by the scheduler loop; nobody else changes
// it.
//
// Nodes are ordered by name wherever an order matters (ties between equally good nodes, reports):
// the rule is the same after a restart, whatever the order in which the watch delivered them.
// NodeIds are not ordered: they name rows.
class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster& operator=(const Cluster&) = delete;

  // A copy that lives on its own: same nodes, pods, groups and row numbers; API objects are shared.
  // What others derived from this cluster (standings, topologies) and its pod classes stay here;
  // the copy derives its own on demand. 5,000 nodes with 50,000 pods take less than 30 ms. Not
  // while a draft is open: its moves would be copied too.
  //
  //   Cluster copy = cluster.fork();                         // no move needed: elided
  //   Model::Model(const Model& from) : cluster_(from.cluster_.fork()) {}
  Cluster fork() const;

  // --- from the watch ---
  void set_node(const api::ObjectPtr& node);  // added or changed
  void remove_node(std::string_view name);    // its pods stay known until they are deleted too
  // A pod with spec.nodeName, added or changed; confirms an assumed one. Finished pods no longer
  // count.
  void set_pod(const api::ObjectPtr& pod);
  void remove_pod(std::string_view uid);
  // A namespace, added or changed. Returns whether its labels changed and some term selects pods by
  // the labels of their namespace.
  bool set_namespace(const api::Object& name_space);
  void remove_namespace(std::string_view name);

  // --- from our own decisions ---
  // Counts the pod on the node until the watch confirms it or it is forgotten. CHECKs that it is
  // not there yet.
  void assume(const api::ObjectPtr& pod, std::string_view node);
  void forget(std::string_view uid);
  bool is_assumed(std::string_view uid) const;
  // The node a pod is assumed on; empty if it is not assumed.
  std::string assumed_node(std::string_view uid) const;
  // A node was nominated for the pod: what it would take there counts (resources, ports, slots,
  // attached volumes), so that others leave the room alone. Those who count pods are not notified:
  // they ask nominated_on(). Each count_nominated() needs its discount_nominated(), with the same
  // object.
  void count_nominated(const api::ObjectPtr& pod, std::string_view node);
  void discount_nominated(const api::ObjectPtr& pod, std::string_view node);
  // The rows that are reserved for pods, and the classes of those on one of them.
  using NominatedRows = std::map<NodeId, std::vector<ClassId>>;
  const NominatedRows& nominated_rows() const { return nominated_classes_->by_row; }
  std::span<const ClassId> nominated_on(NodeId node) const {
    const auto at = nominated_classes_->by_row.find(node);
    return at == nominated_classes_->by_row.end() ? std::span<const ClassId>() : at->second;
  }
  // Grows whenever they may have changed.
  std::uint64_t nominated_epoch() const { return nominated_classes_->epoch; }

  std::size_t node_count() const { return node_count_; }
  bool has_node(std::string_view name) const;
  std::size_t pod_count() const {
    return pods_.size();
  }  // known ones, finished members of groups included

  // --- the table ---
  // Rows, living or not; every column has at least this many.
  std::size_t rows() const { return rows_.size(); }
  const NodeSet& nodes() const { return alive_; }
  // The row of a living node; false if there is none.
  bool find_node(std::string_view name, NodeId& node) const;
  const std::string& node_name(NodeId node) const { return rows_[index_of(node)].name; }
  // Null for a row that only waits for its node (its pods came first) or is free.
  const api::ObjectPtr& node_object(NodeId node) const { return rows_[index_of(node)].node; }

  const ResourceTable& resources() const { return resources_; }
  const ResourceColumns& resource(ResourceId id) const { return resources_.at(id); }
  // The columns of a resource, if some node offers it or a class of pods that uses it still has
  // them. Good until the next change of a node or release of a class.
  bool find_resource(std::string_view name, ResourceId& id) const {
    return resources_.find(name, id);
  }
  const Column<std::int64_t>& nonzero_cpu() const { return nonzero_cpu_; }
  const Column<std::int64_t>& nonzero_memory() const { return nonzero_memory_; }
  const Column<std::int64_t>& pod_slots() const { return pod_slots_; }  // allocatable pods
  const Column<std::int64_t>& pods_on() const { return pods_on_; }
  const NodeSet& unschedulable() const { return unschedulable_; }
  // The pods that hold the node, assumed ones included, in no particular order. The list
  // changes only with an entry in the log; an object in it may be replaced by a newer version of
  // the same pod at any time.
  std::span<const api::ObjectPtr> pods_at(NodeId node) const { return rows_[index_of(node)].held; }

  // The host ports that pods on the node hold; each holder's entry stands for itself.
  std::span<const api::HostPort> ports_on(NodeId node) const;

  // --- volumes ---
  const VolumeBook& volumes() const { return volumes_; }
  // An object that the book keeps was added, changed or deleted; returns the version known before.
  // Pods on nodes are counted again if it changes what they attach.
  api::ObjectPtr put_volume_object(const api::ObjectPtr& object);
  api::ObjectPtr remove_volume_object(const api::Object& object);
  // A pod that names claims was added (+1) or is gone (-1), on a node or not.
  void count_claim_users(const api::Object& pod, int sign) { volumes_.count_users(pod, sign); }
  // Chooses and holds volumes for a pod that is to run on a node, before it is assumed there.
  VolumeBook::Reserved reserve_volumes(const api::Object& pod, std::string_view node);
  void release_volumes(std::string_view uid) { volumes_.release(uid); }
  const VolumeUse& volume_use() const { return volume_use_; }
  const VolumeDraft& volume_draft() const { return *volume_draft_; }
  // The volumes that a pod of the class would get on a node, on top of a draft's moves.
  std::optional<VolumeChoice> choose_volumes(const VolumeNeeds& needs, NodeId node) const;

  TaintSetId taint_set(NodeId node) const { return taint_set_[node]; }
  // Those that nodes have, and some that they had.
  std::span<const std::vector<api::Taint>> taint_sets() const { return taint_sets_; }
  // Grows whenever the sets are renumbered, because many are gone. New sets only add numbers.
  std::uint64_t taint_numbering() const { return taint_numbering_; }

  // The column of a label key; made at the first call, and kept for good. For keys that come
  // from a configuration, never from objects.
  const LabelColumn& watch_label(std::string_view key);
  // The same, kept as long as the hold lives. The cluster must outlive the hold.
  class LabelHold;
  LabelHold hold_label(std::string_view key);
  // The column of a key that is being watched.
  const LabelColumn& label(std::string_view key) const;
  // The living nodes with this value of a watched label, in no order; good until the next change of
  // a node. The first call for a column goes over all rows; from then on the lists are kept.
  std::span<const NodeId> nodes_with(const LabelColumn& column, LabelValueId value);

  // --- images ---
  // A container image that some node has, under any of its names.
  struct Image {
    std::int64_t size = 0;      // as the first node reported it
    std::vector<NodeId> nodes;  // sorted
    std::uint64_t changed = 0;  // grows whenever a node gets it or loses it
  };
  // Null if no node has it any more.
  const Image* find_image(ImageId id) const {
    const auto at = images_.find(id);
    return at == images_.end() ? nullptr : &at->second;
  }

  const RowLog& log() const { return log_; }
  // Grows whenever a node comes or goes or changes its labels.
  std::uint64_t label_epoch() const { return label_epoch_; }
  // Grows whenever a node's taints change, except for those that say it is not ready.
  std::uint64_t taint_epoch() const { return taint_epoch_; }

  // --- the order of nodes ---
  // Position of each living node by name, and the node at a position. Both change with the set of
  // nodes; order_epoch() tells when.
  const Column<std::uint32_t>& ranks() const;
  NodeId node_at(std::uint32_t rank) const;
  std::uint64_t order_epoch() const { return order_epoch_; }

  // --- classes ---
  // The class of a pod; made when first seen, freed when its last user releases it. A pod that asks
  // something new about others may split the classes of those it asks about: classes that were
  // looked up before term_epoch() last grew may be too coarse.
  const PodClass& class_of(const api::ObjectPtr& pod) { return class_of(pod, Part::Asks); }
  // The class that a pod on a node is counted under.
  const PodClass& counted_class_of(const api::ObjectPtr& pod) {
    return class_of(pod, Part::IsCounted);
  }
  std::uint64_t term_epoch() const { return *term_epoch_; }
  // Null if nobody asks it any more.
  const Term* find_term(TermId id) const { return terms_->find(id); }
  // Equal for pods of one class, given what is asked about pods at the moment. For grouping pods
  // that wait without holding on to classes. Never 0.
  std::uint64_t class_hash(const api::Object& pod);
  // Whether two pods are certainly of one class: cheaper than two lookups.
  bool are_alike(const api::Object& a, const api::Object& b) const;
  const PodClass& pod_class(ClassId id) const { return *classes_->by_id[index_of(id)]; }
  void retain_class(ClassId id) { ++classes_->by_id[index_of(id)]->users; }
  void release_class(ClassId id);

  // --- pods that belong together ---
  // From now on pods without spread constraints of their own have PodClass::default_term, and these
  // node labels are compared for them. None: nobody asks.
  void set_default_spread_keys(std::vector<std::string> keys) {
    default_spread_keys_ = std::move(keys);
  }
  // An object of SelectorBook::kinds() was added or changed; deleted.
  void put_selector(const api::Object& object) { selectors_.put(object); }
  void remove_selector(const api::Object& object) { selectors_.remove(object); }

  // --- running pods by class, for what looks beyond its node ---
  // From now on, every pod that holds a node has its class, and pod_log() says who came and left.
  // Costs an interning for each pod, so nobody pays for it before somebody asks. Such a class gets
  // further matches when somebody asks something new that all its pods match.
  void follow_pods();
  const PodLog& pod_log() const { return followed_->log; }
  // The rows where pods changed their class in place: somebody asks something new that not all pods
  // of their class match, or a node offers what they use.
  const RowLog& split_log() const { return followed_->splits; }
  // The class of a pod that holds a node. Once they are followed.
  const PodClass& followed_class(std::string_view uid) const {
    return pod_class(pods_.find(uid)->second.pods);
  }
  // The pods that hold a node: visit(class, node, how many), by rising row. Once they are followed.
  template <typename Visit>
  void for_each_running(Visit&& visit) const {
    for (std::size_t row = 0; row < followed_->on_row.size(); ++row)
      for (const ClassCount& here : followed_->on_row[row])
        visit(pod_class(here.pods), static_cast<NodeId>(row), here.count);
  }

  // --- how much is judged of what a namespace's pods ask ---
  void set_term_limits(const TermLimits& limits) { term_limits_ = limits; }
  const TermCharge& term_charge(std::string_view name_space) const {
    return terms_->charge_of(name_space);
  }
  // Whether pods of the class's namespace were refused for what others ask or match there: if you
  // hold the class only to save work, release it in release_idle().
  bool wants_back(const PodClass& pods) const {
    return !short_of_room_->empty() && (!pods.terms.empty() || !pods.matches.empty()) &&
           short_of_room_->contains(pods.sample->meta().name_space);
  }

  // --- groups ---
  // Null if no member of the PodGroup holds a node or has finished.
  const GroupMembers* members(std::string_view name_space, std::string_view group) const;

  // --- tentative moves, for a draft only: no log, undone before the attempt ends ---
  void place(const PodClass& pods, NodeId node) { count_class(pods, node, 1); }
  void unplace(const PodClass& pods, NodeId node) { count_class(pods, node, -1); }

  // --- for tests and simulations ---
  // The first difference between the two, in a sentence; empty if there is none. Row numbers and
  // what others derived are not compared.
  std::string difference(const Cluster& other) const;
  // How many pods on nodes were looked at so far to find those that terms are about, and how many
  // terms were compared with pods.
  struct Looks {
    std::uint64_t pods;
    std::uint64_t terms;
  };
  Looks looks() const {
    return {.pods = followed_->labels ? followed_->labels->looks() : 0, .terms = terms_->looks()};
  }

  // What others derive from this cluster and keep beside it, under a key of their own.
  struct Derived {
    virtual ~Derived() = default;
    // Releases classes that it holds only to save work, if that frees something: classes keep
    // columns, and what they ask and match is charged to a namespace (wants_back). Called between
    // attempts.
    virtual void release_idle() {}
  };
  std::unique_ptr<Derived>& derived(const void* key);

 private:
  Cluster(const Cluster&);  // see fork()

  struct Row {
    std::string name;
    api::ObjectPtr node;    // null: placeholder or free
    std::int32_t pods = 0;  // pods counted here; keeps a placeholder alive
    bool used = false;
    std::vector<api::ObjectPtr> held = {};  // pods that hold the node
  };
  // A pod that holds a node, or a finished member of a group. Keyed by the UID inside `pod`.
  enum class PodPhase : std::uint8_t { HoldsNode, Succeeded, IsExpected };
  struct PodRecord {
    api::ObjectPtr pod;
    NodeId node{};
    PodPhase phase = PodPhase::HoldsNode;
    bool assumed = false;
    ClassId pods = ClassId::None;  // if pods are followed and it holds a node
    std::uint32_t position = 0;    // in the row's list
    PodLabels::Slot slot = 0;      // if pods are found by labels
  };
  struct ClassCount {
    ClassId pods;
    std::uint32_t count;
  };

  // A pod that has its node, or is expected on it, no longer asks about default spread: what it
  // belongs to may change at any time, and splitting a class must not make it ask something
  // new.
  enum class Part : std::uint8_t { Asks, IsCounted };
  const PodClass& class_of(const api::ObjectPtr& pod, Part part);
  // What a pod asks about others, or why it asks nothing.
  enum class Excess : std::uint8_t { None, OfPod, OfForeignTerms, OfMatches };
  struct Asked {
    std::vector<TermId> terms = {};
    Excess excess = Excess::None;
  };
  const PodClass& class_of(const api::ObjectPtr& pod, Part part, const Asked& asked);
  const PodClass& left_out_class(const api::ObjectPtr& pod, Part part);

  NodeId row_of(std::string_view name);  // made as a placeholder if missing
  void add_rows(std::size_t more);
  void release_row_if_unused(NodeId node);
  void grow(std::size_t rows);
  void set_allocatable(NodeId node, const api::NodeView* before, const api::NodeView* after);
  void find_classes_again(const std::set<NodeId>& rows);
  void release_idle();
  void release_idle_for_room();
  void set_taints(NodeId node, const std::vector<api::Taint>& taints);
  TaintSetId intern_taints(const std::vector<api::Taint>& taints);
  void forget_unused_taint_sets();
  void set_label(LabelColumn& column, NodeId node);
  static void index_value(LabelColumn::Index& index, NodeId node, LabelValueId before,
                          LabelValueId after);
  void fill_label(LabelColumn& column, NodeId node, const std::string* value);

  void count_pod(const PodRecord& record, std::int64_t sign);
  void count_class(const PodClass& pods, NodeId node, std::int64_t sign);
  void count_ports(const std::vector<api::HostPort>& ports, NodeId node, std::int64_t sign);
  void count_volumes(const PodRecord& record, std::int64_t sign);
  void drop_nominated_classes(NodeId node);
  void find_nominated_classes(NodeId node);
  void refresh_nominated_classes();
  void place_volumes(const PodClass& pods, NodeId node, std::int64_t sign);
  void volume_object_changed(const api::Object& object);
  void recount_users(std::string_view claim);
  void set_attachment(const api::Object& object);
  void drop_attachment(const std::string& name);
  void count_member(const PodRecord& record, std::int32_t sign);
  std::vector<std::string> labels_of(const PodClass& pods) const;
  void release_label(std::string_view key);
  LabelColumn& label_column(std::string_view key);
  void add_image(const std::string& name, std::int64_t size, NodeId node);
  void remove_image(const std::string& name, NodeId node);
  void set_images(NodeId node, const api::NodeView* before, const api::NodeView* after);
  std::vector<ImageId> images_of(const api::PodView& pod) const;
  std::vector<Term> terms_of(const api::Object& pod, Part part) const;
  std::optional<Term> default_term_of(const api::Object& pod) const;
  Asked use_terms(const api::Object& pod, Part part);
  Excess excess_of(const api::Object& pod, const std::vector<Term>& terms);
  bool has_room(std::string_view name_space, std::size_t matches);
  bool has_room(std::span<const TermId> matches);
  void forget_gone_matches(std::string_view name_space);
  void forget_gone_matches(PodClass& pods);
  PodClass begin_class(const api::Object& pod, Part part) const;
  void ask_nothing(const api::Object& pod, Excess excess, PodClass& made) const;
  const PodClass& finish_class(PodClass&& made, const api::ObjectPtr& pod);
  const PodClass* find_class(const PodClass& made) const;
  PodClass& store_class(std::unique_ptr<PodClass> made);
  void split_classes(TermId added);
  void add_match(PodClass& pods, TermId term);
  void reclass(PodRecord& record, ClassId to);
  void reclass_and_log(PodRecord& record, ClassId to);
  PodLabels& pod_labels();
  void reclass_namespace(std::string_view name);
  void follow(PodRecord& record);
  void unfollow(const PodRecord& record);
  void count_followed(ClassId pods, NodeId node);
  void uncount_followed(ClassId pods, NodeId node);
  std::vector<PodRecord*> records_of(const std::vector<const api::Object*>& pods);
  void log_pod(const PodLog::Entry& entry);
  void insert_pod(PodRecord&& record);
  void enter_row(PodRecord& record);
  void leave_row(const PodRecord& record);
  void erase_pod(std::string_view uid);
  bool counts_alike(const PodRecord& known, const api::Object& pod, NodeId node) const;
  std::string describe_row(NodeId node) const;
  std::map<std::string, std::string> describe_pods() const;

  void sort_names() const;

  // The rows, by NodeId.
  std::vector<Row> rows_;
  std::vector<NodeId> free_rows_;
  boost::unordered_flat_map<std::string, NodeId, TextHash, std::equal_to<>> row_by_name_;
  std::size_t node_count_ = 0;
  NodeSet alive_;

  // Columns.
  ResourceTable resources_;
  static constexpr std::size_t kIdleMax = 64;
  std::size_t idle_max_ = kIdleMax;  // columns; beyond that, classes are let go
  Column<std::int64_t> nonzero_cpu_;
  Column<std::int64_t> nonzero_memory_;
  Column<std::int64_t> pod_slots_;
  Column<std::int64_t> pods_on_;
  NodeSet unschedulable_;
  boost::unordered_flat_map<std::uint32_t, std::vector<api::HostPort>>
      ports_;  // by row; few nodes have any
  VolumeBook volumes_;
  VolumeUse volume_use_;
  NotCopied<VolumeDraft> volume_draft_;
  Column<TaintSetId> taint_set_;
  std::vector<std::vector<api::Taint>> taint_sets_;
  std::map<std::vector<api::Taint>, TaintSetId> taint_set_ids_;
  std::uint64_t taint_numbering_ = 0;
  std::map<std::string, Boxed<LabelColumn>, std::less<>> labels_;
  boost::unordered_flat_map<std::string, ImageId, TextHash, std::equal_to<>> image_ids_;
  boost::unordered_flat_map<ImageId, Image> images_;
  std::uint32_t next_image_ = 0;
  std::uint64_t image_changes_ = 0;
  RowLog log_;
  std::uint64_t label_epoch_ = 1;
  std::uint64_t taint_epoch_ = 0;

  // Name order, brought up to date when somebody asks.
  mutable std::vector<NodeId> by_rank_;
  mutable Column<std::uint32_t> ranks_;
  mutable std::vector<NodeId> unranked_;
  mutable bool order_stale_ = false;
  std::uint64_t order_epoch_ = 0;

  // Pods and groups.
  boost::unordered_flat_map<std::string_view, PodRecord, TextHash, std::equal_to<>> pods_;
  boost::unordered_flat_map<std::string, GroupMembers, TextHash, std::equal_to<>> members_;

  std::int64_t asking_pods_ = 0;  // on nodes, that have terms of inter-pod affinity
  TermBook::Labels namespaces_;

  SelectorBook selectors_;
  std::vector<std::string> default_spread_keys_;

  // Classes, and what they ask about pods.
  NotCopied<TermBook> terms_;
  NotCopied<std::uint64_t> term_epoch_;
  TermLimits term_limits_;
  // Namespaces that had no room for what a pod asks or matches, since classes were last let go.
  NotCopied<std::set<std::string, std::less<>>> short_of_room_;
  NotCopied<std::uint64_t> let_go_again_;  // not before the row log ends here
  struct Classes {
    std::vector<std::unique_ptr<PodClass>> by_id;  // null: free
    std::vector<ClassId> free;
    boost::unordered_flat_map<std::uint64_t, std::vector<ClassId>> by_hash;
    void forget_hash(const PodClass& pods);
  };
  NotCopied<Classes> classes_;
  // Pods by class, if somebody follows them. Each pod, and each entry of the log, keeps its class.
  struct Followed {
    bool on = false;
    PodLog log;
    std::vector<std::vector<ClassCount>> on_row;  // by NodeId
    RowLog splits;                                // rows where pods got another class
    std::optional<PodLabels> labels;              // once somebody has looked for pods by them
  };
  NotCopied<Followed> followed_;

  // Pods that nodes are reserved for, by row, and their classes.
  std::map<NodeId, std::vector<api::ObjectPtr>> nominated_;
  struct NominatedClasses {
    NominatedRows by_row;
    std::uint64_t epoch = 0;
    std::optional<std::uint64_t> terms_seen;  // term_epoch() when they were found
    bool is_refreshing = false;
  };
  NotCopied<NominatedClasses> nominated_classes_;

  // In the order they were made. Must be the last member: what is derived may hold labels.
  NotCopied<std::list<std::pair<const void*, std::unique_ptr<Derived>>>> derived_;
};

class Cluster::LabelHold {
 public:
  LabelHold(LabelHold&& from) noexcept
      : cluster_(from.cluster_), column_(std::exchange(from.column_, nullptr)) {}
  LabelHold& operator=(LabelHold&&) = delete;
  ~LabelHold() {
    if (column_ != nullptr) cluster_.release_label(column_->key);
  }

  const LabelColumn& column() const { return *column_; }

 private:
  friend class Cluster;
  LabelHold(Cluster& cluster, LabelColumn& column) : cluster_(cluster), column_(&column) {
    ++*column.users;
  }

  Cluster& cluster_;
  const LabelColumn* column_;
};

}  // namespace muster::scheduler
