#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "victim.h"

namespace muster::attack {

// Who takes part, besides the neighbour: somebody known without a role, and the administrator of
// the namespace `tenant`.
struct Cast {
  Endpoint server;
  Credential nobody;
  Credential tenant;
};

// What an attack did, and when it must end.
class Run {
 public:
  bool over() const { return stop_; }
  void end() { stop_ = true; }

  // An answer to a request of `bytes`; 0: none came.
  void answered(int code, std::size_t bytes);
  void sent(std::size_t bytes) { bytes_ += bytes; }
  // Something that must not be: the case fails.
  void complain(std::string text);

  double mib() const { return static_cast<double>(bytes_.load()) / (1 << 20); }
  std::string codes() const;  // "201: 12, 400: 3"
  std::vector<std::string> complaints() const;

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> bytes_{0};
  mutable std::mutex mutex_;
  std::map<int, int> codes_;
  std::vector<std::string> complaints_;
};

struct Case {
  std::string_view name;
  std::string_view who;
  int threads = 1;
  std::function<void(const Cast&)> prepare = {};
  // On each of the threads, until the run is over (or sooner).
  std::function<void(const Cast&, Run&)> attack;
  bool ends = false;                    // by itself, and is given the time for it
  bool alone = false;                   // not mixed with others: it fills the server
  std::vector<std::string> flags = {};  // of `muster up`, instead of the usual ones
  std::size_t descriptors = 0;
};

const std::vector<Case>& all_cases();
// Parts of them, each in the file of its name.
std::vector<Case> http2_cases();
std::vector<Case> read_cases();
std::vector<Case> crowd_cases();
std::vector<Case> product_cases();
std::vector<Case> watch_cases();
std::vector<Case> object_cases();
std::vector<Case> backlog_cases();
std::vector<Case> group_cases();

// Namespaces, roles and objects that the cases and the neighbour need.
void set_up(const Cast& cast);

}  // namespace muster::attack
