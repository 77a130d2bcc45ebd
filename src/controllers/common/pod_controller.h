#pragma once

#include <string>
#include <vector>

#include "api/json.h"
#include "controllers/common/writing_controller.h"

namespace muster::controllers {

// A controller that makes pods for the object of a key, and deletes them, with events about it.
class PodController : public WritingController {
 protected:
  using WritingController::WritingController;

  struct PodBatch {
    std::string key;
    api::ObjectPtr owner;
    std::vector<api::Json> pods;  // documents
    bool whole = false;      // useless unless whole: after one that went well, all others at once
    Also on_each = nullptr;  // called for each outcome
  };
  // Makes pods in batches of 1, 2, 4… while all goes well. After a failure the rest is left to the
  // next look.
  void create_pods(PodBatch batch);
  void delete_pod(const std::string& key, const api::ObjectPtr& owner, const api::ObjectPtr& pod,
                  Also also = nullptr);
};

}  // namespace muster::controllers
