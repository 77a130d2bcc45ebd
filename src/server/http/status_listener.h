#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/http/certificates.h"

namespace muster::server {

// A small HTTPS server for what operators ask a component: is it alive, is it ready, its metrics.
// Only GET of exact paths; a thread of its own; at most kConnectionsMax at once, each for seconds.
class StatusListener {
 public:
  struct Answer {
    int code = 200;
    std::string text = {};
  };
  struct Question {
    std::string path;
    std::string bearer;  // the token that came with it; empty: none
  };
  // Called once, from any thread, also when the listener is gone.
  using Reply = std::function<void(Answer)>;
  // Called on the listener's thread, which it must not block: what takes longer replies later.
  using Handler = std::function<void(const Question& question, Reply reply)>;
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0 picks a free one
    Credential certificate = {};
  };
  static constexpr int kConnectionsMax = 64;

  static Result<std::unique_ptr<StatusListener>> start(const Options& options, Handler handler);
  ~StatusListener();
  StatusListener(const StatusListener&) = delete;
  StatusListener& operator=(const StatusListener&) = delete;

  std::uint16_t port() const;

 private:
  class Session;
  struct State;
  explicit StatusListener(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace muster::server
