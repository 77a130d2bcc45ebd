#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/kit/controller.h"

namespace muster::controllers {

// Removes a finalizer from objects that are being deleted, once nothing uses them any more. The
// part that all protection controllers share; each says what a use is, and whether objects that
// lack the finalizer get it: not every server adds it when they are created.
//
//   deleted, has the finalizer ──last user gone──▶ patch sent ──shown by the feed──▶ forgotten
//                                                   │    ▲
//                                                   └────┘ refused: again after a pause
class Protection : public client::Controller {
 protected:
  // `users` are the watches of what may use the objects; their keys are those of the objects.
  enum class Adds : std::uint8_t { Nothing, Finalizer };
  Protection(std::string_view name, client::ComponentContext context, const api::Kind& kind,
             std::string_view finalizer, Adds adds, std::vector<Watch> users);

  virtual bool is_used(const std::string& key) const = 0;
  // Which objects must be looked at when one of them changes. Only itself, unless overridden.
  virtual Keys keys_of_object(const Change& change);

  // Whether it waits to go: deleted and with the finalizer.
  bool is_leaving(const api::Object& object) const;

  client::Mirror objects_;

 private:
  // Uids by key: objects whose patch is under way, or was accepted but not yet shown by the feed.
  using Asked = std::map<std::string, std::string>;

  void reconcile(const std::string& key, Time now) final;
  bool has_finalizer(const api::Object& object) const;
  // Patches the finalizer into or out of the object, as `member` of its metadata says.
  void ask_once(Asked& asked, const std::string& key, const api::Object& object,
                std::string_view member);

  const std::string finalizer_;
  const Adds adds_;
  Asked released_;
  Asked protected_;
};

}  // namespace muster::controllers
