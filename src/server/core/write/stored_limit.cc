#include "server/core/write/stored_limit.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "server/core/request/errors.h"
#include "server/core/write/stored_bytes.h"

namespace muster::server {

Result<void> check_stored(const Context& context, const api::Object& object,
                          const api::Object* old) {
  const std::size_t before = old == nullptr ? 0 : old->memory();
  if (object.memory() <= before) return {};
  const std::size_t growth = object.memory() - before;
  const StoredBytes& stored = context.staging.stored();
  const std::string& name_space = object.meta().name_space;
  const std::size_t own = stored.of(name_space) + growth;
  const std::size_t all = stored.total() + growth;
  if (own + all <= context.stored_bytes_max) return {};
  const std::string whose = name_space.empty()
                                ? "objects without a namespace"
                                : fmt::format("the objects of the namespace \"{}\"", name_space);
  return fail(forbidden(
      object.kind(), object.meta().name,
      fmt::format("{} together would be {} bytes, more than would still be free of the {} bytes "
                  "that this server stores; delete some of them, or raise --max-stored-memory",
                  whose, own, context.stored_bytes_max)));
}

}  // namespace muster::server
