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

// A process runs without the kinds that the server did not serve at the start; this notices when
// the server begins to serve one. Several servers behind one address are not upgraded at the same
// moment, so a kind counts only after three looks in a row have found it. Belongs to one thread.
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
