#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/pod_class.h"

namespace muster::scheduler {

// Tentative moves on the cluster's own columns: pods placed, and running pods removed. Everything
// derived hears of each move and of its undoing, last in first out; what is still there when the
// draft ends is undone, so no path can forget to roll back.
class Draft {
 public:
  struct Move {
    enum class Kind : std::uint8_t { Place, Remove };
    const PodClass* pods;
    NodeId node;
    std::uint32_t tag;  // the caller's: which pod it was
    Kind kind = Kind::Place;
  };

  // Hears of a move after the cluster's columns have changed.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void applied(const Move& move) = 0;
    virtual void undone(const Move& move) = 0;
  };

  explicit Draft(Cluster& cluster) : cluster_(cluster) {}
  ~Draft() { undo_to(0); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // Listeners hear in the order they were added, and in reverse order when a move is undone. They
  // must outlive their moves.
  void add_listener(Listener& listener) { listeners_.push_back(&listener); }

  void place(const PodClass& pods, NodeId node, std::uint32_t tag);
  // Frees what a pod of the class holds on the node; one must run there. Undoing puts it back,
  // whether or not the node has room for it by its own numbers.
  void remove(const PodClass& pods, NodeId node, std::uint32_t tag);
  std::span<const Move> moves() const { return moves_; }
  // How many of the moves are removals, the one being undone included.
  std::size_t removals() const { return removals_; }
  void undo_all() { undo_to(0); }

  // When destroyed, undoes every move made since, unless they are kept.
  class [[nodiscard]] Checkpoint {
   public:
    explicit Checkpoint(Draft& draft) : draft_(draft), size_(draft.moves_.size()) {}
    ~Checkpoint() {
      if (!kept_) draft_.undo_to(size_);
    }
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;
    void keep() { kept_ = true; }
    // Undoes now; the checkpoint stays in force.
    void undo() { draft_.undo_to(size_); }
    std::size_t moves_since() const { return draft_.moves_.size() - size_; }

   private:
    Draft& draft_;
    std::size_t size_;
    bool kept_ = false;
  };
  Checkpoint checkpoint() { return Checkpoint(*this); }

 private:
  void apply(const Move& move);
  void undo_to(std::size_t size);

  Cluster& cluster_;
  std::vector<Move> moves_;
  std::size_t removals_ = 0;
  std::vector<Listener*> listeners_;
};

}  // namespace muster::scheduler
