#include "client/remote/transport.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/thread_name.h"

namespace muster::client {
namespace {

constexpr std::size_t kIdleMax = 256;  // handles kept for later
constexpr int kPatienceMaxMs = 1000;
// A round costs as much as there are transfers, whatever has come for them. With many under way a
// moment's wait lets one round serve several; what they wait for takes longer than that.
constexpr std::size_t kManyTransfers = 32;
constexpr std::chrono::microseconds kGatheringEach{60};  // for each of them
constexpr std::size_t kGatheredMax = 160;

}  // namespace

Transport::Transport(Kubeconfig config, HttpsOptions options, const Clock& clock, Tick tick)
    : clock_(clock),
      tick_(std::move(tick)),
      endpoint_(std::move(config), std::move(options)),
      multi_(curl_multi_init()) {
  CHECK(multi_ != nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, 64L);
}

Result<std::unique_ptr<Transport>> Transport::start(Kubeconfig config, HttpsOptions options,
                                                    const Clock& clock, Tick tick) {
  TRY(set_up_curl());
  std::unique_ptr<Transport> transport(
      new Transport(std::move(config), std::move(options), clock, std::move(tick)));
  Transport& started = *transport;
  transport->thread_ = std::thread([&started] {
    name_this_thread("api-client");
    started.run();
  });
  return transport;
}

Transport::~Transport() { stop(); }

void Transport::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  curl_multi_wakeup(multi_.get());
  if (thread_.joinable()) thread_.join();
}

void Transport::post(std::function<void()> task) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  if (is_first) curl_multi_wakeup(multi_.get());
}

std::unique_ptr<Exchange> Transport::take_exchange() {
  if (!idle_.empty()) {
    std::unique_ptr<Exchange> exchange = std::move(idle_.back());
    idle_.pop_back();
    return exchange;
  }
  auto exchange = std::make_unique<Exchange>(endpoint_);
  curl_easy_setopt(exchange->handle(), CURLOPT_HTTP_VERSION,
                   static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Rather share a connection that is being made than make one each.
  curl_easy_setopt(exchange->handle(), CURLOPT_PIPEWAIT, 1L);
  return exchange;
}

// libcurl may be inside a callback, where nothing can be added: it is added in the next round.
void Transport::perform(HttpCall call, Exchange::Sink sink, Done done) {
  std::unique_ptr<Exchange> exchange = take_exchange();
  exchange->start(std::move(call), std::move(sink));
  starting_.push_back({std::move(exchange), std::move(done)});
}

void Transport::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    run_tasks();
    const std::optional<Time> deadline = tick_();
    for (Transfer& transfer : std::exchange(starting_, {})) {
      CURL* const handle = transfer.exchange->handle();
      transfers_.emplace(handle, std::move(transfer));
      CHECK(curl_multi_add_handle(multi_.get(), handle) == CURLM_OK);
    }
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    // What ended may have made work for the tick.
    if (!finish_transfers() && starting_.empty())
      curl_multi_poll(multi_.get(), nullptr, 0, patience_ms(deadline), nullptr);
    if (transfers_.size() >= kManyTransfers)
      std::this_thread::sleep_for(kGatheringEach * std::min(transfers_.size(), kGatheredMax));
  }
  fail_transfers();
}

void Transport::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const std::function<void()>& task : tasks) task();
}

bool Transport::finish_transfers() {
  bool any = false;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    const auto at = transfers_.find(message->easy_handle);
    CHECK(at != transfers_.end());
    curl_multi_remove_handle(multi_.get(), at->first);
    Transfer transfer = std::move(at->second);
    transfers_.erase(at);
    Result<HttpReply> reply = transfer.exchange->finish(code);
    if (idle_.size() < kIdleMax) idle_.push_back(std::move(transfer.exchange));
    transfer.done(std::move(reply));
    any = true;
  }
  return any;
}

void Transport::fail_transfers() {
  for (auto& [handle, transfer] : std::exchange(transfers_, {})) {
    curl_multi_remove_handle(multi_.get(), handle);
    transfer.done(fail(Reason::ServiceUnavailable, "this client is stopping"));
  }
  for (const Transfer& transfer : std::exchange(starting_, {}))
    transfer.done(fail(Reason::ServiceUnavailable, "this client is stopping"));
}

int Transport::patience_ms(std::optional<Time> deadline) const {
  if (!deadline) return kPatienceMaxMs;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - clock_.now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kPatienceMaxMs));
}

}  // namespace muster::client
