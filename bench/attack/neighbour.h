#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "victim.h"

namespace muster::attack {

// What somebody who has nothing to do with it went through.
struct Experience {
  // From when a request was due to its answer.
  std::vector<double> reads_ms;
  std::vector<double> writes_ms;
  // From when a pod was asked for to when it was seen on a node.
  std::vector<double> bound_ms;
  std::map<int, int> codes;  // 0: no answer

  std::vector<double> waits_ms() const;  // for answers: reads and writes
  int failed() const;
  void add(const Experience& other);
};

// The value that this share is below: 0.99 gives the p99.
double share_of(std::vector<double> values, double share);

// A user like any other: a small write and a read every 20 ms, each on its own connection. One that
// is slow counts as often as others were due meanwhile. Besides, it makes a pod ten times a second,
// waits until that is on a node, and deletes it. Runs until it is asked for what it saw.
class Neighbour {
 public:
  Neighbour(const Endpoint& server, Credential credential);
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  Experience finish();

 private:
  enum class Does { Reads, Writes };
  void run(Does does, std::vector<double>& waits, std::map<int, int>& codes) const;
  void run_pods();

  const Endpoint& server_;
  const Credential credential_;
  std::atomic<bool> stop_{false};
  Experience seen_;
  std::map<int, int> write_codes_;
  std::map<int, int> pod_codes_;  // of those that were not as they should be
  std::thread reader_;
  std::thread writer_;
  std::thread pod_maker_;
};

}  // namespace muster::attack
