#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/object.h"
#include "twin/script.h"

// Random objects about storage, for clusters of a few nodes.
namespace muster::scheduler::twin {

constexpr std::uint64_t kClaims = 8;

std::string join(const std::vector<std::string>& parts);  // with commas
std::string host(Dice& dice);                             // the name of a node
api::ObjectPtr object_of(const api::Kind& kind, const std::string& json);

std::vector<api::ObjectPtr> classes();
api::ObjectPtr random_csi_node(Dice& dice);
api::ObjectPtr random_driver(Dice& dice);
api::ObjectPtr random_capacity(Dice& dice);
api::ObjectPtr random_attachment(Dice& dice);
// A claim c<k> with its volume v<k>: bound to it, kept for it, or without one.
std::vector<Change> random_claim(Dice& dice, std::uint64_t number);
std::string claim_json(Dice& dice, const std::string& name, const std::string& storage_class,
                       const std::string& bound_to, const std::string& metadata);

}  // namespace muster::scheduler::twin
