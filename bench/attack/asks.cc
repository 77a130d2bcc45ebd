#include "asks.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace muster::attack {

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

Who stranger(const Cast& cast) { return {cast.server, nullptr}; }
Who nobody(const Cast& cast) { return {cast.server, &cast.nobody}; }
Who tenant(const Cast& cast) { return {cast.server, &cast.tenant}; }
Who admin(const Cast& cast) { return {cast.server, &cast.server.admin}; }

std::vector<std::string> of_type(const std::string& type) { return {"Content-Type: " + type}; }

namespace {

void check_answer(const Wire::Ask& ask, const server::testing::HttpReply& reply) {
  if ((reply.code >= 200 && reply.code < 300) || reply.code == 409) return;
  throw Unprepared(fmt::format("{} {} got {}: {}", ask.method, ask.target, reply.code,
                               reply.body.substr(0, 500)));
}

}  // namespace

void must(const Who& who, const Wire::Ask& ask) {
  Wire wire(who.server, {.client = who.credential});
  check_answer(ask, wire.ask(ask));
}

void repeat(const Who& who, const Asks& asks, Run& run) {
  std::unique_ptr<Wire> wire;
  for (int i = 0; !run.over(); ++i) {
    if (!wire) wire = std::make_unique<Wire>(who.server, Wire::Options{.client = who.credential});
    const Wire::Ask ask = asks(i);
    const int code = wire->ask(ask).code;
    run.answered(code, ask.body.size());
    if (code == 0 || wire->ends()) wire.reset();
    if (code == 429) pause_ms(20);
  }
}

std::function<void(const Cast&, Run&)> repeated(Who (*who)(const Cast&), const Asks& asks) {
  return [=](const Cast& cast, Run& run) { repeat(who(cast), asks, run); };
}

Asks always(const std::string& method, const std::string& target, const std::string& type,
            const std::string& body) {
  return [=](int) {
    return Wire::Ask{.method = method, .target = target, .headers = of_type(type), .body = body};
  };
}

Asks patches(const std::string& target, const std::string& type,
             const std::vector<std::string>& bodies) {
  return [=](int i) {
    return Wire::Ask{.method = "PATCH",
                     .target = target,
                     .headers = of_type(type),
                     .body = bodies[static_cast<std::size_t>(i) % bodies.size()]};
  };
}

void make_many(const Who& who, int count, const Asks& asks) {
  constexpr int kMakers = 16;
  std::atomic<int> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first, under mutex
  const auto connect = [&] {
    return std::make_unique<Wire>(who.server, Wire::Options{.client = who.credential});
  };
  const auto make_some = [&] {
    auto wire = connect();
    for (int number = next++; number < count; number = next++) {
      const Wire::Ask ask = asks(number);
      auto reply = wire->ask(ask);
      // All at once may be too many; what is refused early ends the connection.
      while (reply.code == 429 || reply.code == 0) {
        pause_ms(100);
        wire = connect();
        reply = wire->ask(ask);
      }
      if (reply.code == 403) return;  // a limit of the namespace: the attack has what it can get
      check_answer(ask, reply);
    }
  };
  std::vector<std::thread> makers;
  for (int i = 0; i < kMakers; ++i)
    makers.emplace_back([&] {
      try {
        make_some();
      } catch (const std::exception&) {
        next = count;  // for all
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  for (std::thread& maker : makers) maker.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace muster::attack
