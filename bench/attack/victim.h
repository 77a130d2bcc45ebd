#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "server/http/testing_wire.h"

namespace muster::attack {

using server::Credential;
using server::testing::Endpoint;

// Puts this process and those it starts ahead of others, as far as the system lets it. Linux
// weighs sessions against each other before it looks at the niceness of their processes, so this
// starts a session. The server and its attackers share it: with one each, Linux 6.18 left a
// thread of the server's (niceness -15) ready to run for 361 ms while attackers of niceness 0 had
// its core.
void step_forward();

// A `muster up` with a data directory that is thrown away, in an address space of 6 GiB. It has
// the niceness of whoever starts it: what a neighbour waits for must be the server's doing, so
// step_forward() first.
class Victim {
 public:
  struct Options {
    std::string program;
    std::vector<std::string> flags = {};
    std::size_t descriptors = 0;  // limit of open files; 0: the system's
  };
  explicit Victim(const Options& options);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }
  // A certificate for `user`, without any role yet.
  Credential make_user(const std::string& user) const;

  bool alive();
  // Seconds from SIGTERM to the end, -1 if it did not end by itself within a minute; and its exit
  // status.
  double stop();
  int status() const { return status_; }
  // What it said, for a report about a death.
  std::string last_words() const;
  // `muster store check` of what it left. Call after stop().
  bool store_is_whole() const;

  double resident_mib() const;
  // The most since the last call of forget_peak().
  double peak_mib() const;
  void forget_peak() const;

 private:
  void start(const Options& options);
  void await_start();

  std::string program_;
  std::string directory_;
  Endpoint endpoint_;
  pid_t pid_ = -1;
  int status_ = -1;
};

}  // namespace muster::attack
