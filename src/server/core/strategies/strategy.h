#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates/gates.h"
#include "api/inert/inert.h"
#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/error.h"

namespace muster::server {

// What differs from kind to kind when objects are written. Documents are decoded; "old" is what is
// stored now. The base class is what most kinds do. Strategies have no state; strategy_of() gives
// the one of a kind.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Defaults that go before those of the schema table. On every write.
  virtual void predefault(api::Json& document) const;
  // Defaults that a schema table cannot state because they depend on other fields. On every write.
  virtual void set_defaults(api::Json& document) const;

  // Drops what clients may not set: status on the main endpoint, anything but status on /status,
  // fields whose gate is off.
  virtual void prepare_for_create(api::Json& document, const api::Gates& gates) const;
  virtual void prepare_for_update(api::Json& document, const api::Json& old,
                                  const api::Gates& gates) const;
  virtual void prepare_for_status(api::Json& document, const api::Json& old,
                                  const api::Gates& gates) const;
  // Other subresources that take the whole object: namespaces/finalize, pods/resize.
  virtual void prepare_for_part(api::Json& document, const api::Json& old,
                                std::string_view subresource) const;

  virtual bool deletes_gracefully() const { return false; }
  // How long the object lives on after a delete; nullopt if the kind goes at once.
  virtual std::optional<std::int64_t> grace_period(const api::Json& document,
                                                   std::optional<std::int64_t> asked) const;
  // What a delete without a propagation policy means for dependents: Orphan, or Background.
  virtual bool orphans_dependents() const { return false; }
};

const Strategy& strategy_of(const api::Kind& kind);

// What is wrong with a document; empty if nothing is.
std::vector<Cause> validate_create(const api::Kind& kind, const api::Json& document,
                                   const api::Gates& gates);
std::vector<Cause> validate_update(const api::Kind& kind, const api::Json& document,
                                   const api::Json& old, std::string_view subresource,
                                   const api::Gates& gates);
// What is valid but may not do what the user hopes. For an update: only what is new.
std::vector<std::string> warnings_about(const api::Kind& kind, const api::Json& document,
                                        const api::Absent& absent);
std::vector<std::string> warnings_about_update(const api::Kind& kind, const api::Json& document,
                                               const api::Json& old, const api::Absent& absent);

}  // namespace muster::server
