#include "controllers/common/status_request.h"

#include <string>
#include <utility>

#include "client/client.h"

namespace muster::controllers {

using api::JsonArray;
using api::JsonObject;

api::Request replace_status_request(const api::Object& object, JsonObject status) {
  return client::patch_request(
      object.kind(), object.meta().name_space, object.meta().name, "status",
      api::PatchType::JsonPatch,
      JsonArray{JsonObject{{"op", "test"},
                           {"path", "/metadata/resourceVersion"},
                           {"value", std::to_string(object.revision().value)}},
                JsonObject{{"op", "add"}, {"path", "/status"}, {"value", std::move(status)}}});
}

void put_count(JsonObject& status, std::string_view member, std::int64_t count) {
  if (count == 0)
    status.erase(member);
  else
    status[member] = count;
}

}  // namespace muster::controllers
