#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "api/gates/gates.h"
#include "base/mailbox.h"
#include "base/time.h"
#include "scheduler/framework/profiles.h"
#include "server/core/request/reply.h"
#include "store/store.h"

namespace muster::app {

// Answers the subresource `explanation` of PodGroups, CompositePodGroups and Pods: why it waits and
// what would help, for everybody who may create that subresource in its namespace. Objects in
// namespaces whose pods the caller may not list are planned with, but only counted in the answer.
//
// On a thread of its own: neither the scheduler nor the registry waits for an explanation. One is
// made at a time; a few wait; each user may ask once a second, with a small burst.
class ExplainService {
 public:
  struct Deciding {
    scheduler::Profiles profiles;
    api::Gates gates = {};
  };
  // Whether a user may read what is in a namespace. Any thread.
  using MayRead = std::function<bool(const api::User& user, std::string_view name_space)>;
  ExplainService(const store::Store& store, const Clock& clock, Deciding deciding,
                 MayRead may_read);
  ~ExplainService();
  ExplainService(const ExplainService&) = delete;
  ExplainService& operator=(const ExplainService&) = delete;

  // The current explanation ends with its next attempt; that one, those that wait, and new ones are
  // refused. Does not wait for that.
  void close();

  static constexpr std::string_view kSubresource = "explanation";
  static bool handles(const api::Request& request) {
    return request.verb == api::Verb::Create && request.subresource == kSubresource;
  }
  // Any thread. Replies later, or at once if the user asks too often or too many wait.
  void post(api::Request& request, server::Reply& reply);

  static constexpr std::size_t kWaitingMax = 16;
  static constexpr int kBurst = 5;
  static constexpr Duration kRefill = std::chrono::seconds{1};

 private:
  struct Question {
    api::Request request;
    server::Reply reply;
  };

  // Whether the user may ask now; takes one of their turns.
  bool may_ask(const std::string& user);
  void run();
  Result<api::Answer> answer(const api::Request& request) const;

  const store::Store& store_;
  const Clock& clock_;
  const Deciding deciding_;
  const MayRead may_read_;
  std::mutex mutex_;
  std::map<std::string, Time> full_again_;  // under mutex_: when a user has all turns again
  Mailbox<Question> mailbox_{kWaitingMax};
  std::atomic<bool> closed_{false};
  std::thread thread_;
};

}  // namespace muster::app
