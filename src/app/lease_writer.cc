#include "app/lease_writer.h"

#include "api/apply/managers.h"
#include "api/json.h"

namespace muster::app {
namespace {

constexpr std::string_view kNames = "muster-";  // of our processes, and of our leases

}  // namespace

std::string writer_of_holder(const api::Object& lease) {
  static const api::FieldSet kHolder = api::field_set({"spec.holderIdentity"});
  std::string writer;
  for (const auto& [manager, owned] : api::read_managers(lease.document())) {
    if (!owned.fields.meets(kHolder)) continue;
    // Several own it only while they say the same.
    if (writer.empty() || manager.name.starts_with(kNames)) writer = manager.name;
  }
  return writer;
}

bool is_lease_of_muster(const api::Object& lease) {
  const std::string writer = writer_of_holder(lease);
  const std::string& known_by = writer.empty() ? lease.meta().name : writer;
  return known_by.starts_with(kNames);
}

}  // namespace muster::app
