#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/read/paging.h"
#include "store/store.h"
#include "watch/window.h"

// Get and List, from durable state, on any thread (wire.md 2.7 and 2.8).
namespace muster::server {

Result<api::Answer> read_object(const store::Store& store, const api::Request& request);

struct ListSources {
  const store::Store& store;
  const watch::Window& window;
  PinnedListings& pins;
};
Result<api::Answer> read_list(const ListSources& from, const api::Request& request);

}  // namespace muster::server
