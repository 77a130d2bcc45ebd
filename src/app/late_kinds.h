#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "api/kinds/kind.h"
#include "base/result.h"
#include "base/time.h"
#include "client/remote/served_kinds.h"

namespace muster::app {

// Kinds that a process goes on without because the server did not serve them at the start: notices
// that the server has begun to. Of several servers behind one address some are upgraded before
// others, so a kind counts only after it was there at three looks in a row. Belongs to one thread.
class LateKinds {
 public:
  // Asks the server which of these it serves now. May block for some seconds.
  using Ask = std::function<Result<client::ServedKinds>(std::span<const api::Kind* const> kinds)>;
  explicit LateKinds(Ask ask) : ask_(std::move(ask)) {}

  // Asks if `absent` is not empty and the last look was long enough ago. Returns the first kind
  // that has come to stay, as "podgroups.scheduling.k8s.io/v1beta1"; empty: none has.
  std::string look(std::span<const api::Kind* const> absent, Time now);

 private:
  const Ask ask_;
  std::optional<Time> next_;
  std::map<const api::Kind*, int> seen_;  // at so many looks in a row; never iterated
};

}  // namespace muster::app
