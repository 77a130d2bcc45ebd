#pragma once

#include <functional>

namespace muster::bench {

// Runs work that is to be measured.
using Measure = std::function<void(const std::function<void()>& work)>;

// Pods alone (pods_in_group 0) or gangs of so many, one after the other, through a whole scheduler:
// created, decided, bound, confirmed, deleted. Returns how many entities were measured.
int scheduler_loop(int pods_in_group, int count, const Measure& measure);

}  // namespace muster::bench
