#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "api/json.h"
#include "client/kit/mirror.h"
#include "controllers/common/adoption.h"
#include "controllers/common/writing_controller.h"

namespace muster::controllers {

// A controller that makes pods for the object of a key, and deletes them, with events about it.
class PodController : public WritingController {
 protected:
  using WritingController::WritingController;

  // The object of a key, at the beginning of a look. Null: it is gone, and with it what was
  // remembered of it.
  template <typename Memories>
  api::ObjectPtr begin_look_at(const client::Mirror& objects, Memories& memories,
                               const std::string& key) {
    begin_look(key);
    const auto [name_space, name] = client::split_key(key);
    api::ObjectPtr found = objects.find(name_space, name);
    if (found == nullptr) {
      memories.erase(key);
      forget_writes(key);
    }
    return found;
  }
  // Adopts and releases what the claim says, a few hundred at a time. True: there was something to
  // do; the next look does the rest.
  bool adopt_and_release(const std::string& key, const api::Object& owner, const Claim& claim);

  struct PodBatch {
    std::string key;
    api::ObjectPtr owner;
    std::size_t count = 0;
    // Called whenever some are made, as Writes::start_making is: what it returns gives the document
    // of each, by its place.
    std::function<std::function<api::Json(std::size_t index)>()> start_making = nullptr;
    bool whole = false;      // useless unless whole: once one has succeeded, all others at once
    Also on_each = nullptr;  // called for each outcome
  };
  // Makes pods in batches of 1, 2, 4… as long as all succeed. After a failure the rest is left to
  // the next look.
  void create_pods(PodBatch batch);
  void delete_pod(const std::string& key, const api::ObjectPtr& owner, const api::ObjectPtr& pod,
                  Also also = nullptr);
};

}  // namespace muster::controllers
