// What the store costs: durable commits in batches, lists and gets, loading, and the fan-out of
// changes.
//
// Time here is wall time, since a durable write waits for the disk under $TMPDIR.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/entropy.h"
#include "bench/harness.h"
#include "store/engines/memory.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::store {
namespace {

using Seconds = std::chrono::duration<double>;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}
double best_of(int times, const std::function<void()>& work) {
  double best = seconds_of(work);
  for (int i = 1; i < times; ++i) best = std::min(best, seconds_of(work));
  return best;
}

// About as large as a pod that a controller made.
const std::string kBody(1500, 'x');

Transaction create(std::int64_t number) {
  return testing::together(
      testing::create(fmt::format("job-{:07}", number * 7919 % 10'000'000), kBody));
}

void bench_commits(const std::string& directory, bench::Report& report) {
  for (const std::int64_t size : {1, 32, 256}) {
    const auto engine = open_rocksdb_engine(fmt::format("{}/batch-{}", directory, size)).value();
    CHECK(engine->load());
    const std::int64_t rounds = size == 1 ? 300 : 100;
    std::vector<std::vector<Transaction>> batches(static_cast<std::size_t>(rounds));
    for (std::int64_t i = 0; i < rounds * size; ++i)
      batches[static_cast<std::size_t>(i / size)].push_back(create(i));
    const double took = seconds_of([&] {
      for (std::vector<Transaction>& batch : batches) CHECK(engine->commit(batch));
    });
    report.figure(fmt::format("durable commits, batches of {}", size),
                  static_cast<double>(rounds * size) / took, "/s");
    report.figure(fmt::format("one batch of {}", size), took / static_cast<double>(rounds) * 1e3,
                  "ms");
  }
}

void bench_history(const std::string& directory, bench::Report& report) {
  constexpr std::int64_t kObjects = 20'000;
  const std::string path = directory + "/history";
  {
    const auto engine = open_rocksdb_engine(path).value();
    CHECK(engine->load());
    for (std::int64_t i = 0; i < kObjects;) {
      std::vector<Transaction> batch;
      for (int j = 0; j < 500; ++j, ++i) batch.push_back(create(i));
      CHECK(engine->commit(batch));
    }
    for (std::int64_t i = 0; i < kObjects;) {
      std::vector<Transaction> batch;
      for (int j = 0; j < 500; ++j, ++i) {
        Transaction again = create(i);
        again.writes[0].expected = {i + 1};
        batch.push_back(std::move(again));
      }
      CHECK(engine->commit(batch));
    }
  }
  report.figure("open and load 20,000 objects with 20,000 older versions",
                seconds_of([&] { CHECK(open_rocksdb_engine(path).value()->load()); }) * 1e3, "ms");
  const auto engine = open_rocksdb_engine(path).value();
  CHECK(engine->load());
  report.figure("compact 40,000 changes",
                seconds_of([&] {
                  while (engine->compact({2 * kObjects}).value() < Revision{2 * kObjects}) {
                  }
                }) * 1e3,
                "ms");
}

void bench_reads(bench::Report& report) {
  constexpr std::int64_t kPods = 50'000;
  const auto store = Store::open(make_memory_engine()).value();
  for (std::int64_t i = 0; i < kPods;) {
    std::vector<Transaction> batch;
    for (int j = 0; j < 500; ++j, ++i) batch.push_back(create(i));
    CHECK(store->commit(batch));
  }
  report.figure("list 50,000 pods",
                best_of(10, [&] { CHECK(store->list("pods/").objects.size() == kPods); }) * 1e3,
                "ms");
  SeededEntropy entropy(1);
  std::vector<std::string> keys;
  for (int i = 0; i < 20'000; ++i)
    keys.push_back(create(static_cast<std::int64_t>(entropy.below(kPods))).writes[0].key);
  report.figure("get, of 50,000",
                best_of(5,
                        [&] {
                          for (const std::string& key : keys) CHECK(store->get(key) != nullptr);
                        }) /
                    static_cast<double>(keys.size()) * 1e9,
                "ns");
}

void bench_fan_out(bench::Report& report) {
  constexpr int kCursors = 1'000;
  constexpr std::int64_t kChanges = 20'000;
  constexpr std::int64_t kBlock = 100;
  watch::Window window;
  std::vector<Change> changes;
  for (std::int64_t revision = 1; revision <= kChanges; ++revision) {
    const auto pod = testing::make_pod("p", kBody);
    pod->assign_revision({revision});
    changes.push_back({.type = Change::Type::Added,
                       .key = "pods/default/p",
                       .revision = {revision},
                       .block_end = {revision},
                       .object = pod,
                       .previous = nullptr});
  }
  std::vector<Revision> cursors(kCursors);
  std::vector<char> woken(kCursors, 0);
  std::vector<std::unique_ptr<watch::Window::Subscription>> subscriptions;
  for (int i = 0; i < kCursors; ++i)
    subscriptions.push_back(
        window.subscribe("pods", [&woken, i] { woken[static_cast<std::size_t>(i)] = 1; }));
  std::size_t read = 0;
  std::size_t bytes = 0;
  double appending = 0;
  const double took = seconds_of([&] {
    for (std::int64_t at = 0; at < kChanges; at += kBlock) {
      appending += seconds_of(
          [&] { window.append(std::span(changes).subspan(static_cast<std::size_t>(at), kBlock)); });
      for (auto& cursor : cursors) {
        const auto batch = window.read("pods", cursor, 1000).value();
        for (const auto& entry : batch.entries)
          bytes +=
              entry
                  ->bytes(1,
                          [](const Change& change) { return std::string(change.object->bytes()); })
                  ->size();
        read += batch.entries.size();
        cursor = batch.next;
      }
    }
  });
  CHECK(read == static_cast<std::size_t>(kCursors * kChanges));
  report.figure("fan-out to 1,000 cursors, read and encoded",
                static_cast<double>(read) / took / 1e6, "M events/s");
  report.figure("append of 100 changes, waking 1,000 subscriptions",
                appending * static_cast<double>(kBlock) / static_cast<double>(kChanges) * 1e6,
                "us");
}

int run(const bench::Request& request) {
  const testing::TemporaryDirectory directory;
  bench::Report report("Store", request);
  bench_commits(directory.path(), report);
  bench_history(directory.path(), report);
  bench_reads(report);
  bench_fan_out(report);
  return report.finish();
}

}  // namespace
}  // namespace muster::store

int main(int argc, char** argv) {
  return muster::store::run(muster::bench::parse_arguments(argc, argv));
}
