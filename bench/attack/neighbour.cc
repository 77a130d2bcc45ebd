#include "neighbour.h"

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
      writer_([this] { run(Does::Writes, seen_.writes_ms, write_codes_); }) {}

Neighbour::~Neighbour() { finish(); }

Experience Neighbour::finish() {
  stop_ = true;
  if (reader_.joinable()) reader_.join();
  if (writer_.joinable()) writer_.join();
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

}  // namespace muster::attack
