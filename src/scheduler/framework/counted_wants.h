#pragma once

#include <boost/container/small_vector.hpp>

#include <string_view>

#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// The filter that compares what pods ask for with what nodes have left.
inline constexpr std::string_view kRoomFilter = "NodeResourcesFit";

// The requests of a standing's pods that this filter counts: all but the resources that the
// configuration leaves to others. Code that bounds room by columns must count the same.
boost::container::small_vector<PodClass::Want, 4> counted_wants(const Standing& standing,
                                                                const Cluster& cluster);

}  // namespace muster::scheduler
