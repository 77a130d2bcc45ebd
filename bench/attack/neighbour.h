#pragma once

#include <array>
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

// A user like any other: every 20 ms it gets an object, lists its few, patches one and applies one,
// each on its own connection. One that is slow counts as often as others were due meanwhile.
// Besides, it makes a pod ten times a second, waits until that is on a node, and deletes it. Runs
// until it is asked for what it saw.
class Neighbour {
 public:
  Neighbour(const Endpoint& server, Credential credential);
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  Experience finish();

 private:
  // Lists and applies are heavy work to the server, which other threads do than gets and patches.
  enum class Does { Gets, Lists, Patches, Applies };
  struct Habit {
    Does does;
    std::vector<double> waits_ms = {};
    std::map<int, int> codes = {};
    std::thread thread = {};
  };
  static server::testing::Wire::Ask ask_for(Does does, int number);
  void run(Habit& habit) const;
  void run_pods();

  const Endpoint& server_;
  const Credential credential_;
  std::atomic<bool> stop_{false};
  Experience seen_;
  std::array<Habit, 4> habits_{Habit{.does = Does::Gets}, Habit{.does = Does::Lists},
                               Habit{.does = Does::Patches}, Habit{.does = Does::Applies}};
  std::map<int, int> pod_codes_;  // of those that were not as they should be
  std::thread pod_maker_;
};

}  // namespace muster::attack
