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
const std::string kObject = "/api/v1/namespaces/neighbour/configmaps/own";
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
    : server_(server),
      credential_(std::move(credential)),
      reader_([this] { run(Does::Reads, seen_.reads_ms, seen_.codes); }),
      writer_([this] { run(Does::Writes, seen_.writes_ms, write_codes_); }),
      pod_maker_([this] { run_pods(); }) {}

Neighbour::~Neighbour() { finish(); }

Experience Neighbour::finish() {
  stop_ = true;
  if (reader_.joinable()) reader_.join();
  if (writer_.joinable()) writer_.join();
  if (pod_maker_.joinable()) pod_maker_.join();
  for (const auto& [code, count] : std::exchange(pod_codes_, {})) seen_.codes[code] += count;
  for (const auto& [code, count] : std::exchange(write_codes_, {})) seen_.codes[code] += count;
  return std::exchange(seen_, {});
}

void Neighbour::run(Does does, std::vector<double>& waits, std::map<int, int>& codes) const {
  std::optional<Wire> wire;
  steady_clock::time_point due = steady_clock::now();
  for (int i = 0; !stop_; ++i) {
    std::this_thread::sleep_until(due);
    if (!wire) wire.emplace(server_, Wire::Options{.client = &credential_});
    Wire::Ask ask{.target = kObject};
    if (does == Does::Writes) {
      ask.method = "PATCH";
      ask.headers = {"Content-Type: application/merge-patch+json"};
      ask.body = R"({"data":{"n":")" + std::to_string(i) + R"("}})";
    }
    const int code = wire->ask(ask).code;
    const steady_clock::time_point now = steady_clock::now();
    // What was due meanwhile would have waited as well.
    for (; due <= now; due += kPeriod, ++codes[code])
      waits.push_back(std::chrono::duration<double, std::milli>(now - due).count());
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
