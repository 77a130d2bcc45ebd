#include "client/remote/remote_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "client/https/call.h"
#include "client/remote/feed_queue.h"
#include "client/remote/reflector.h"
#include "client/remote/transport.h"
#include "client/request_metrics.h"

namespace muster::client {
namespace {

// A server that starts may not know for a while what it serves.
constexpr Duration kVanished = std::chrono::seconds{30};

bool is_read(api::Verb verb) { return verb == api::Verb::Get || verb == api::Verb::List; }

void keep_earlier(std::optional<Time>& deadline, std::optional<Time> other) {
  if (other) deadline = deadline ? std::min(*deadline, *other) : *other;
}

}  // namespace

// All but `served`, `options` and what `mutex` guards belongs to the transport's thread.
struct RemoteClient::State {
  State(std::string host_given, ServedKinds served_given, RemoteOptions options_given,
        Entropy& entropy_given, const Clock& clock_given)
      : served(std::move(served_given)),
        options(std::move(options_given)),
        host(std::move(host_given)),
        entropy(entropy_given),
        clock(clock_given) {}

  // A call as it will be sent, and what its answer is read by. Thousands may wait: text takes a
  // fifth of what a request with its document takes.
  struct Call {
    api::Verb verb = api::Verb::Get;
    const api::Kind* kind = nullptr;
    bool only_acknowledged = false;
    HttpCall http = {};
    Done done = {};
  };
  struct Ended {
    std::shared_ptr<Call> sent;
    Outcome outcome;
  };
  // Calls that share a rate, first come first served.
  struct Lane {
    RateLimit limit;
    std::deque<Call> waiting;
  };
  // One kind that is followed, and who listens.
  struct Followed {
    std::unique_ptr<Reflector> reflector;
    std::vector<std::shared_ptr<FeedQueue>> feeds;
    bool announced = false;  // that it is synced
    bool has_news = false;   // the feeds have events that they were not woken for
  };

  std::optional<Time> tick() {
    const Time now = clock.now();
    turned = now.time_since_epoch().count();
    fence();
    deliver();
    std::optional<Time> deadline;
    for (Lane& lane : lanes) keep_earlier(deadline, send_due(lane, now));
    for (const auto& followed : kinds) keep_earlier(deadline, follow(*followed, now));
    answered = false;
    publish_troubles();
    if (round) {
      in_round = true;
      keep_earlier(deadline, round());
      in_round = false;
    }
    return deadline;
  }

  // A process that may not write any more must not do so late, either: what was asked may still
  // wait for a connection, or be asked again on another.
  void fence() {
    const bool may = !options.may_write || options.may_write();
    if (could_write && !may)
      transport->cut(make_error(Reason::ServiceUnavailable, "the lease may be lost"));
    could_write = may;
  }

  // --- calls ---

  void accept(api::Request request, Done done) {
    if (closed) return done(fail(Reason::ServiceUnavailable, "this client is stopping"));
    const std::string* const version = served.version_of(*request.kind);
    if (version == nullptr)
      return done(
          fail(Reason::NotFound, "the server does not serve {}", request.kind->qualified_plural()));
    request.version = *version;
    Lane& lane = lanes[request.kind == &api::kinds::event() ? 1 : 0];
    lane.waiting.push_back({.verb = request.verb,
                            .kind = request.kind,
                            .only_acknowledged = is_only_acknowledged(request),
                            .http = encode_call(request, owners),
                            .done = std::move(done)});
    send_due(lane, clock.now());
  }

  std::optional<Time> send_due(Lane& lane, Time now) {
    while (!lane.waiting.empty() && in_flight < options.in_flight_max) {
      if (const std::optional<Time> later = lane.limit.take_token(now)) return later;
      Call call = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      send_now(std::move(call));
    }
    return std::nullopt;
  }

  void send_now(Call call) {
    if (!is_read(call.verb) && options.may_write && !options.may_write())
      return call.done(
          fail(Reason::ServiceUnavailable, "nothing is written: the lease may be lost"));
    HttpCall http = std::move(call.http);
    set_in_flight(in_flight + 1);
    transport->perform(
        std::move(http), {},
        [this, sent = std::make_shared<Call>(std::move(call))](const Result<HttpReply>& reply) {
          note_answer(reply);
          ended.push_back({sent, outcome_of(*sent, reply)});
        });
  }

  Outcome outcome_of(const Call& call, const Result<HttpReply>& reply) const {
    if (!reply) return fail(reply.error());
    if (call.only_acknowledged && reply->code < 300)
      return api::Answer{.what = {}, .warnings = reply->warnings};
    api::Request asked;
    asked.verb = call.verb;
    asked.kind = call.kind;
    asked.version = *served.version_of(*call.kind);
    return decode_reply(asked, *reply);
  }

  // Outcomes are handed over together with the events that arrived beside them: each component is
  // woken once for all of them.
  void deliver() {
    for (Ended& call : std::exchange(ended, {})) {
      set_in_flight(in_flight - 1);
      call.sent->done(std::move(call.outcome));
    }
  }

  void set_in_flight(std::size_t count) {
    const std::lock_guard lock(mutex);
    in_flight = count;
    if (count == 0) idle.notify_all();
  }

  void close() {
    closed = true;
    for (Lane& lane : lanes)
      for (const Call& call : std::exchange(lane.waiting, {}))
        call.done(fail(Reason::ServiceUnavailable, "this client is stopping"));
  }

  // --- feeds ---

  void add_feed(const api::Kind& kind, const std::shared_ptr<FeedQueue>& queue) {
    const auto same = [&kind](const auto& other) {
      return other->reflector->target().kind == &kind;
    };
    const auto at = std::ranges::find_if(kinds, same);
    if (at != kinds.end()) {
      Followed& followed = **at;
      for (api::ObjectPtr& object : followed.reflector->objects())
        queue->push({Event::Type::Added, std::move(object)});
      if (followed.announced) queue->set_synced();
      queue->announce();
      followed.feeds.push_back(queue);
      return;
    }
    auto followed = std::make_unique<Followed>();
    followed->feeds.push_back(queue);
    followed->reflector = std::make_unique<Reflector>(
        Reflector::Target{&kind, *served.version_of(kind), options.project, options.make}, entropy,
        [&to = *followed](const Event& event) {
          for (const auto& feed : to.feeds) feed->push(event);
          to.has_news = true;
        });
    kinds.push_back(std::move(followed));
  }

  // A server that starts may answer for a while that it cannot.
  void note_answer(const Result<HttpReply>& reply) {
    if (reply && reply->code < 500 && reply->code != 429 && reply->code != 403) answered = true;
  }

  std::optional<Time> follow(Followed& followed, Time now) {
    std::erase_if(followed.feeds, [](const auto& feed) { return feed->closed(); });
    Reflector& reflector = *followed.reflector;
    if (answered) reflector.on_reachable(now);
    if (std::exchange(followed.has_news, false))
      for (const auto& feed : followed.feeds) feed->announce();
    if (reflector.synced() && !followed.announced) {
      followed.announced = true;
      for (const auto& feed : followed.feeds) feed->set_synced();
    }
    if (closed) return std::nullopt;
    if (const std::optional<api::Request> request = reflector.next(now)) {
      Exchange::Sink sink;
      if (request->verb == api::Verb::Watch)
        sink = [this, &reflector](std::string_view bytes) {
          answered = answered || bytes.empty();  // it begins
          return reflector.on_bytes(bytes);
        };
      HttpCall call = encode_call(*request);
      call.accept = reflector.accept();
      transport->perform(std::move(call), std::move(sink),
                         [this, &reflector](const Result<HttpReply>& reply) {
                           count_read(reply);
                           note_answer(reply);
                           if (!closed) reflector.on_end(reply, clock.now());
                         });
    }
    return reflector.next_deadline();
  }

  void count_read(const Result<HttpReply>& reply) {
    if (options.metrics == nullptr || closed) return;
    const int code = reply ? reply->code : http_code(reply.error().reason);
    const auto [at, is_new] = reads.try_emplace(code);
    if (is_new) at->second = request_counter(*options.metrics, "GET", code, host);
    at->second.add();
  }

  void publish_troubles() {
    std::vector<std::string> found;
    std::string unknown;
    for (const auto& followed : kinds) {
      const Reflector& reflector = *followed->reflector;
      if (const std::optional<Time> since = reflector.unknown_since();
          since && clock.now() - *since >= kVanished)
        unknown = fmt::format("{}/{}", reflector.target().kind->qualified_plural(),
                              reflector.target().version);
      if (!reflector.synced() || !reflector.trouble().empty())
        found.push_back(
            fmt::format("{}: {}", reflector.target().kind->qualified_plural(),
                        reflector.trouble().empty() ? "not listed yet" : reflector.trouble()));
    }
    const std::lock_guard lock(mutex);
    troubles = std::move(found);
    vanished = std::move(unknown);
  }

  const ServedKinds served;
  const OwnerVersions owners = served.owner_versions();
  const RemoteOptions options;
  const std::string host;        // of the server, as metrics name it
  std::map<int, Counter> reads;  // by the code of their answer
  Entropy& entropy;
  const Clock& clock;
  std::array<Lane, 2> lanes{Lane{RateLimit(options.rate), {}}, Lane{RateLimit(options.rate), {}}};
  std::vector<std::unique_ptr<Followed>> kinds;
  std::vector<Ended> ended;  // calls whose outcomes are to be delivered
  bool closed = false;
  bool answered = false;                       // the server has answered since the last turn
  bool could_write = false;                    // at the last turn
  std::function<std::optional<Time>()> round;  // of who lives on the thread
  bool in_round = false;

  std::mutex mutex;
  std::condition_variable idle;
  std::size_t in_flight = 0;  // written by the thread alone
  std::vector<std::string> troubles;
  std::string vanished;
  std::vector<const api::Kind*> absent;

  std::atomic<Duration::rep> turned = clock.now().time_since_epoch().count();
  std::unique_ptr<Transport> transport;  // last: its thread uses the rest
};

RemoteClient::RemoteClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
RemoteClient::~RemoteClient() { stop(); }

Result<std::unique_ptr<RemoteClient>> RemoteClient::start(Kubeconfig config, ServedKinds served,
                                                          RemoteOptions options, Entropy& entropy,
                                                          const Clock& clock) {
  const HttpsOptions https = options.https;
  auto state = std::make_unique<State>(std::string(authority_of(config.server)), std::move(served),
                                       std::move(options), entropy, clock);
  State& inner = *state;
  // The thread's first tick may come before the pointer to it is set, but then there is nothing to
  // send.
  state->transport =
      TRY(Transport::start(std::move(config), https, clock, [&inner] { return inner.tick(); }));
  return std::unique_ptr<RemoteClient>(new RemoteClient(std::move(state)));
}

void RemoteClient::host(std::function<std::optional<Time>()> round) {
  state_->transport->post(
      [state = state_.get(), round = std::move(round)] { state->round = round; });
}

void RemoteClient::nudge() {
  if (!state_->transport->is_here()) state_->transport->post([] {});
}

void RemoteClient::send(api::Request request, Done done) {
  if (state_->transport->is_here() && state_->in_round)
    return state_->accept(std::move(request), std::move(done));
  auto asked = std::make_shared<std::pair<api::Request, Done>>(std::move(request), std::move(done));
  state_->transport->post([state = state_.get(), asked] {
    state->accept(std::move(asked->first), std::move(asked->second));
  });
}

std::unique_ptr<Feed> RemoteClient::watch(const api::Kind& kind, std::function<void()> wake) {
  auto queue = std::make_shared<FeedQueue>(std::move(wake));
  if (state_->served.version_of(kind) == nullptr) {
    queue->set_synced();
    const std::lock_guard lock(state_->mutex);
    if (std::ranges::find(state_->absent, &kind) == state_->absent.end())
      state_->absent.push_back(&kind);
  } else {
    state_->transport->post([state = state_.get(), &kind, queue] { state->add_feed(kind, queue); });
  }
  return std::make_unique<QueuedFeed>(std::move(queue));
}

std::vector<std::string> RemoteClient::troubles() const {
  const std::lock_guard lock(state_->mutex);
  return state_->troubles;
}

std::string RemoteClient::vanished() const {
  const std::lock_guard lock(state_->mutex);
  return state_->vanished;
}

std::vector<const api::Kind*> RemoteClient::absent() const {
  const std::lock_guard lock(state_->mutex);
  return state_->absent;
}

Time RemoteClient::last_turn() const { return Time(Duration(state_->turned.load())); }

bool RemoteClient::drain(Duration patience) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  state_->transport->post([state = state_.get(), done] {
    state->close();
    *done = true;
    state->set_in_flight(state->in_flight);  // those that wait look again
  });
  std::unique_lock lock(state_->mutex);
  return state_->idle.wait_for(lock, patience, [&] { return *done && state_->in_flight == 0; });
}

void RemoteClient::stop() {
  state_->transport->stop();
  state_->deliver();  // the thread is gone; those that it failed at its end have no other
}

}  // namespace muster::client
