#include "client/remote/transport.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/thread_name.h"

namespace muster::client {
namespace {

constexpr std::size_t kIdleMax = 32;  // handles kept for later
constexpr int kPatienceMaxMs = 1000;
// A scheduler that binds some hundred pods in a second hears of some thousand things, one by one.
// A look costs as much as what two or three pods cause; ten milliseconds gather that.
constexpr RateLimit::Options kLooks{.per_second = 100, .burst = 25};
// Streams stay: servers that allow a hundred requests per connection must have room for others.
constexpr std::size_t kWatchesPerLine = 50;
constexpr int kRefusalsMax = 3;

}  // namespace

Transport::Transport(Kubeconfig config, HttpsOptions options, const Clock& clock, Tick tick)
    : clock_(clock),
      tick_(std::move(tick)),
      endpoint_(std::move(config), std::move(options)),
      multi_(curl_multi_init()),
      speaks_http2_(TlsLine::possible(endpoint_)),
      looks_(kLooks) {
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
    started.thread_id_ = std::this_thread::get_id();
    started.run();
  });
  return transport;
}

Transport::~Transport() { stop(); }

void Transport::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    gathered_.notify_one();
  }
  curl_multi_wakeup(multi_.get());
  if (thread_.joinable()) thread_.join();
}

void Transport::post(std::function<void()> task) {
  bool is_polling = false;
  {
    const std::lock_guard lock(mutex_);
    is_polling = tasks_.empty() && gathers_ == Gathers::No;
    tasks_.push_back(std::move(task));
    if (gathers_ == Gathers::UntilATask) gathered_.notify_one();
  }
  if (is_polling) curl_multi_wakeup(multi_.get());
}

void Transport::perform(HttpCall call, Exchange::Sink sink, Done done) {
  Asked asked{.call = std::move(call),
              .sink = std::move(sink),
              .done = std::move(done),
              .since = clock_.now()};
  if (asked.call.patience)
    asked.deadline = asked.since + *asked.call.patience;
  else if (!asked.sink)
    asked.deadline = asked.since + std::chrono::milliseconds{endpoint_.options().timeout_ms};
  ask(std::move(asked));
}

void Transport::cut(const Error& error) {
  for (const auto& line : lines_) line->break_off(error);
  fail_transfers(error);
}

void Transport::ask(Asked asked) {
  if (speaks_http2_)
    line_for(asked).ask(std::move(asked));
  else
    start_transfer(std::move(asked));
}

void Transport::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    run_tasks();
    read_lines();
    drive_transfers();
    // After all that could make work for it.
    const std::optional<Time> deadline = tick_();
    write_lines();
    if (starting_.empty()) wait(deadline);
  }
  fail_all(make_error(Reason::ServiceUnavailable, "this client is stopping"));
}

void Transport::wait(std::optional<Time> deadline) {
  int patience = kPatienceMaxMs;
  waits_.clear();
  for (const auto& line : lines_) {
    if (const std::optional<Time> other = line->next_deadline())
      deadline = deadline ? std::min(*deadline, *other) : *other;
    const TlsLine::Wait wait = line->waits_for();
    patience = std::min(patience, wait.patience_ms);
    waits_.push_back(wait.on);
  }
  if (gather(deadline)) {
    // Something came, most likely: to read costs what it costs to ask.
    for (curl_waitfd& wait : waits_) wait.revents = CURL_WAIT_POLLIN;
    return;
  }
  curl_multi_poll(multi_.get(), waits_.data(), static_cast<unsigned>(waits_.size()),
                  std::min(patience, patience_ms(deadline)), nullptr);
}

// Lets more arrive before the next look, if there was much lately; true if it waited. Does not wait
// while a single request is under way, and while none is, only until one is asked: its caller may
// have nothing else to do. A list that floods in is read as fast as it comes.
bool Transport::gather(std::optional<Time> deadline) {
  std::size_t requests = 0;
  for (const auto& line : lines_) {
    if (line->state() != Http2Line::State::Open || line->is_flooded()) return false;
    requests += line->requests();
  }
  if (requests == 1 || !transfers_.empty()) return false;
  const Time now = clock_.now();
  if (deadline && *deadline <= now) return false;
  std::optional<Time> due = looks_.take_token(now);
  if (!due) return false;
  if (deadline) due = std::min(*due, *deadline);
  std::unique_lock lock(mutex_);
  gathers_ = requests == 0 ? Gathers::UntilATask : Gathers::AllAlong;
  gathered_.wait_for(lock, *due - now,
                     [&] { return stopping_ || (requests == 0 && !tasks_.empty()); });
  gathers_ = Gathers::No;
  looks_.take_token(clock_.now());
  return true;
}

void Transport::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const std::function<void()>& task : tasks) task();
}

// --- HTTP/2 ---

Http2Line& Transport::line_for(const Asked& asked) {
  const std::shared_ptr<const TlsTexts> texts = endpoint_.tls_texts();
  for (const auto& line : lines_) {
    if (line->texts() != texts) line->retire();
    if (line->takes_more() && (!asked.sink || line->watches() < kWatchesPerLine)) return *line;
  }
  return *lines_.emplace_back(std::make_unique<Http2Line>(endpoint_));
}

void Transport::read_lines() {
  const Time now = clock_.now();
  // What ends here may ask for more, and with it for further lines.
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i]->read(now, i < waits_.size() && waits_[i].revents != 0);
    finish_line(*lines_[i]);
  }
  waits_.clear();
  std::erase_if(lines_, [](const auto& line) { return line->spent(); });
}

void Transport::write_lines() {
  for (const auto& line : lines_) line->write();
}

void Transport::finish_line(Http2Line& line) {
  for (Http2Session::Ended& ended : line.take_ended()) {
    if (ended.reply)
      ended.asked.done(*std::move(ended.reply));
    else if (++ended.asked.refusals <= kRefusalsMax)
      ask(std::move(ended.asked));
    else
      ended.asked.done(fail(endpoint_.unasked(CURLE_HTTP2_STREAM, "it refuses every request")));
  }
  if (line.state() == Http2Line::State::Foreign) {
    speaks_http2_ = false;
    line.retire();
    for (Asked& asked : line.take_open()) ask(std::move(asked));
  } else if (line.state() == Http2Line::State::Gone) {
    for (const Asked& asked : line.take_open()) asked.done(fail(line.error()));
  }
}

// --- libcurl's pool ---

std::unique_ptr<Exchange> Transport::take_exchange() {
  if (!idle_.empty()) {
    std::unique_ptr<Exchange> exchange = std::move(idle_.back());
    idle_.pop_back();
    return exchange;
  }
  auto exchange = std::make_unique<Exchange>(endpoint_);
  // Where libcurl's TLS is not OpenSSL's it speaks HTTP/2 itself, and then rather shares a
  // connection that is being made than makes one each.
  curl_easy_setopt(exchange->handle(), CURLOPT_HTTP_VERSION,
                   static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(exchange->handle(), CURLOPT_PIPEWAIT, 1L);
  return exchange;
}

// libcurl may be inside a callback, where nothing can be added: it is added in the next round.
void Transport::start_transfer(Asked asked) {
  std::unique_ptr<Exchange> exchange = take_exchange();
  exchange->start(std::move(asked.call), std::move(asked.sink));
  starting_.push_back({std::move(exchange), std::move(asked.done)});
}

void Transport::drive_transfers() {
  for (Transfer& transfer : std::exchange(starting_, {})) {
    CURL* const handle = transfer.exchange->handle();
    transfers_.emplace(handle, std::move(transfer));
    CHECK(curl_multi_add_handle(multi_.get(), handle) == CURLM_OK);
  }
  if (transfers_.empty()) return;
  int running = 0;
  curl_multi_perform(multi_.get(), &running);
  finish_transfers();
}

void Transport::finish_transfers() {
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
  }
}

void Transport::fail_transfers(const Error& error) {
  for (auto& [handle, transfer] : std::exchange(transfers_, {})) {
    curl_multi_remove_handle(multi_.get(), handle);
    transfer.done(fail(error));
  }
  for (const Transfer& transfer : std::exchange(starting_, {})) transfer.done(fail(error));
}

void Transport::fail_all(const Error& error) {
  for (const auto& line : std::exchange(lines_, {})) {
    for (const Http2Session::Ended& ended : line->take_ended()) ended.asked.done(fail(error));
    for (const Asked& asked : line->take_open()) asked.done(fail(error));
  }
  fail_transfers(error);
}

int Transport::patience_ms(std::optional<Time> deadline) const {
  if (!deadline) return kPatienceMaxMs;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - clock_.now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kPatienceMaxMs));
}

}  // namespace muster::client
