#include "store/engine.h"

namespace muster::store {

std::string make_key(const api::Kind& kind, std::string_view name_space, std::string_view name) {
  std::string key;
  key.reserve(kind.store_prefix.size() + name_space.size() + name.size() + 2);
  key.append(kind.store_prefix);
  if (kind.namespaced) key.append("/").append(name_space);
  key.append("/").append(name);
  return key;
}

}  // namespace muster::store
