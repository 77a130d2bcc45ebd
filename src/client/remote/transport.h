#pragma once

#include <curl/curl.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/https/exchange.h"
#include "client/remote/http2_line.h"
#include "client/remote/rate_limit.h"

namespace muster::client {

// The thread that talks to one API server: any number of requests under way, over one HTTP/2
// connection where the server supports it (Http2Line), otherwise libcurl's pool of HTTP/1.1
// connections.
//
// Under load it looks at the connection only every ten milliseconds, as network cards gather
// interrupts: a look costs the same for one answer or event as for many, and what is asked
// meanwhile is sent together. A caller that asks one thing at a time never waits for that.
class Transport {
 public:
  using Done = std::function<void(Result<HttpReply> reply)>;
  // Called on the thread whenever something happened or its deadline has passed; returns the
  // next.
  using Tick = std::function<std::optional<Time>()>;

  // `clock` must outlive it.
  static Result<std::unique_ptr<Transport>> start(Kubeconfig config, HttpsOptions options,
                                                  const Clock& clock, Tick tick);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Any thread: runs the task on the transport's thread, and then the tick.
  void post(std::function<void()> task);
  // Any thread: ends the thread. What is under way fails; tasks that have not run never will.
  void stop();

  // Any thread: whether it is the one that the transport runs on.
  bool is_here() const { return std::this_thread::get_id() == thread_id_; }

  // On the thread only. `done` comes later, on the thread. With a sink it is a stream, which has no
  // time limit but that of the call itself.
  void perform(HttpCall call, Exchange::Sink sink, Done done);
  // On the thread only: everything under way fails with this, and nothing more of it is sent. What
  // is asked later gets connections of its own.
  void cut(const Error& error);

 private:
  struct Transfer {
    std::unique_ptr<Exchange> exchange;
    Done done;
  };
  struct MultiDeleter {
    void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
  };

  Transport(Kubeconfig config, HttpsOptions options, const Clock& clock, Tick tick);

  void run();
  void run_tasks();
  void wait(std::optional<Time> deadline);
  bool gather(std::optional<Time> deadline);
  int patience_ms(std::optional<Time> deadline) const;
  void fail_all(const Error& error);

  void ask(Asked asked);
  Http2Line& line_for(const Asked& asked);
  void read_lines();
  void write_lines();
  void finish_line(Http2Line& line);

  void start_transfer(Asked asked);
  void drive_transfers();
  void finish_transfers();
  void fail_transfers(const Error& error);
  std::unique_ptr<Exchange> take_exchange();

  const Clock& clock_;
  const Tick tick_;
  Endpoint endpoint_;
  std::unique_ptr<CURLM, MultiDeleter> multi_;
  std::mutex mutex_;
  // Whether the thread lets things gather before it looks again; then it also looks at the tasks.
  enum class Gathers : std::uint8_t { No, UntilATask, AllAlong };
  std::vector<std::function<void()>> tasks_;  // under mutex_, as is the next
  bool stopping_ = false;
  Gathers gathers_ = Gathers::No;  // likewise
  std::condition_variable gathered_;

  // Of the thread.
  bool speaks_http2_;  // as far as we know
  std::vector<std::unique_ptr<Http2Line>> lines_;
  std::vector<curl_waitfd> waits_;  // for each line, in order, what the last wait found
  RateLimit looks_;

  // Of libcurl's pool.
  std::vector<Transfer> starting_;
  std::map<CURL*, Transfer> transfers_;
  std::vector<std::unique_ptr<Exchange>> idle_;

  std::atomic<std::thread::id> thread_id_;
  std::thread thread_;
};

}  // namespace muster::client
