#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/engine.h"
#include "store/engines/memory.h"

namespace muster::server {

// A memory engine whose calls a test replaces one by one.
class ReplacedEngine : public store::Engine {
 public:
  Result<store::Contents> load() override { return inner_->load(); }
  Result<std::vector<Result<api::Revision>>> commit(std::span<store::Transaction> batch) override {
    return inner_->commit(batch);
  }
  void set_sink(Sink sink) override { inner_->set_sink(std::move(sink)); }
  Result<api::Revision> compact(api::Revision revision) override {
    return inner_->compact(revision);
  }
  Result<void> remember(store::Waypoint waypoint) override { return inner_->remember(waypoint); }
  Result<void> copy_to(const std::string& directory) override { return inner_->copy_to(directory); }
  Result<void> probe() override { return inner_->probe(); }

 private:
  std::unique_ptr<store::Engine> inner_ = store::make_memory_engine();
};

}  // namespace muster::server
