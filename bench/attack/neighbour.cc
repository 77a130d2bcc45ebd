#include "neighbour.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

namespace muster::attack {
namespace {

using server::testing::Wire;
using std::chrono::steady_clock;

constexpr auto kPeriod = std::chrono::milliseconds(20);
const std::string kMaps = "/api/v1/namespaces/neighbour/configmaps";
const std::string kPods = "/api/v1/namespaces/neighbour/pods";
constexpr auto kPodPeriod = std::chrono::milliseconds(100);
constexpr auto kLook = std::chrono::milliseconds(3);
// A pod that is not on a node by then counts with what it has waited.
constexpr auto kPodPatience = std::chrono::seconds(20);

double ms_since(steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
}

// Makes a pod and returns when it is on a node; otherwise the code that it got instead.
int bind_one(Wire& wire, const std::string& name) {
  const auto start = steady_clock::now();
  const int code = wire.ask({.method = "POST",
                             .target = kPods,
                             .headers = {"Content-Type: application/json"},
                             .body = R"({"metadata":{"name":")" + name +
                                     R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})"})
                       .code;
  if (code != 201) return code;
  while (steady_clock::now() - start < kPodPatience) {
    const auto reply = wire.get(fmt::format("{}/{}", kPods, name));
    if (reply.code != 200) return reply.code;
    if (reply.body.find(R"("nodeName":)") != std::string::npos) break;
    std::this_thread::sleep_for(kLook);
  }
  return 200;
}

}  // namespace

double share_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::lround(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

std::vector<double> Experience::waits_ms() const {
  std::vector<double> all = reads_ms;
  all.insert(all.end(), writes_ms.begin(), writes_ms.end());
  return all;
}

void Experience::add(const Experience& other) {
  reads_ms.insert(reads_ms.end(), other.reads_ms.begin(), other.reads_ms.end());
  writes_ms.insert(writes_ms.end(), other.writes_ms.begin(), other.writes_ms.end());
  bound_ms.insert(bound_ms.end(), other.bound_ms.begin(), other.bound_ms.end());
  for (const auto& [code, count] : other.codes) codes[code] += count;
}

int Experience::failed() const {
  int failed = 0;
  for (const auto& [code, count] : codes)
    if (code != 200) failed += count;
  return failed;
}

Neighbour::Neighbour(const Endpoint& server, Credential credential)
    : server_(server), credential_(std::move(credential)), pod_maker_([this] { run_pods(); }) {
  for (Habit& habit : habits_) habit.thread = std::thread([this, &habit] { run(habit); });
}

Neighbour::~Neighbour() { finish(); }

Experience Neighbour::finish() {
  stop_ = true;
  for (Habit& habit : habits_) {
    if (habit.thread.joinable()) habit.thread.join();
    Experience seen;
    seen.codes = std::exchange(habit.codes, {});
    const bool reads = habit.does == Does::Gets || habit.does == Does::Lists;
    (reads ? seen.reads_ms : seen.writes_ms) = std::exchange(habit.waits_ms, {});
    seen_.add(seen);
  }
  if (pod_maker_.joinable()) pod_maker_.join();
  for (const auto& [code, count] : std::exchange(pod_codes_, {})) seen_.codes[code] += count;
  return std::exchange(seen_, {});
}

Wire::Ask Neighbour::ask_for(Does does, int number) {
  const std::string change = R"("data":{"n":")" + std::to_string(number) + R"("}})";
  switch (does) {
    case Does::Gets: return {.target = kMaps + "/own"};
    case Does::Lists: return {.target = kMaps};
    case Does::Patches:
      return {.method = "PATCH",
              .target = kMaps + "/own",
              .headers = {"Content-Type: application/merge-patch+json"},
              .body = "{" + change};
    case Does::Applies: break;
  }
  return {.method = "PATCH",
          .target = kMaps + "/applied?fieldManager=neighbour&force=true",
          .headers = {"Content-Type: application/apply-patch+yaml"},
          .body = R"({"apiVersion":"v1","kind":"ConfigMap",)" + change};
}

void Neighbour::run(Habit& habit) const {
  std::optional<Wire> wire;
  steady_clock::time_point due = steady_clock::now();
  for (int i = 0; !stop_; ++i) {
    std::this_thread::sleep_until(due);
    if (!wire) wire.emplace(server_, Wire::Options{.client = &credential_});
    const int code = wire->ask(ask_for(habit.does, i)).code;
    const steady_clock::time_point now = steady_clock::now();
    // What was due meanwhile would have waited as well.
    for (; due <= now; due += kPeriod, ++habit.codes[code])
      habit.waits_ms.push_back(std::chrono::duration<double, std::milli>(now - due).count());
    if (code == 0) wire.reset();
  }
}

void Neighbour::run_pods() {
  static std::atomic<int> next_pod = 0;  // one that was left is not in the way of the next
  std::optional<Wire> wire;
  while (!stop_) {
    if (!wire) wire.emplace(server_, Wire::Options{.client = &credential_});
    const std::string name = "pod-" + std::to_string(next_pod++);
    const auto start = steady_clock::now();
    const int code = bind_one(*wire, name);
    if (code == 200)
      seen_.bound_ms.push_back(ms_since(start));
    else
      ++pod_codes_[code];
    wire->ask(
        {.method = "DELETE", .target = fmt::format("{}/{}?gracePeriodSeconds=0", kPods, name)});
    if (code == 0) wire.reset();
    std::this_thread::sleep_until(start + kPodPeriod);
  }
}

}  // namespace muster::attack
