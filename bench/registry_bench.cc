// How long a request about many objects keeps the registry's thread from everybody else: as a
// whole, and by the longest of its slices. Time is wall time; on a shared machine the processor
// time of the longest commit, beside it, says what there is to do without the disk and without
// waiting for a core.
#include <fmt/format.h>
#include <time.h>  // NOLINT: clock_gettime is POSIX, not C++

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "app/registry_thread.h"
#include "base/check.h"
#include "base/entropy.h"
#include "bench/harness.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/request/decode_body.h"
#include "server/core/write/batch.h"
#include "server/core/write/registry.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"
#include "store/store.h"

namespace muster::server {
namespace {

constexpr int kPods = 10'000;
constexpr int kNodes = 500;

double cpu_ms() {
  timespec spent{};
  CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) == 0);
  return static_cast<double>(spent.tv_sec) * 1e3 + static_cast<double>(spent.tv_nsec) / 1e6;
}

double ms_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

class Bench {
 public:
  explicit Bench(const std::string& directory)
      : store_(store::Store::open(store::open_rocksdb_engine(directory).value()).value()),
        registry_(*store_, entropy_) {
    bootstrap(registry_, *store_, now_);
  }

  void create(const api::Kind& kind, std::string_view name_space, const std::string& json) {
    submit(api::Verb::Create, kind, name_space, json);
  }
  void flush() { registry_.flush(); }

  static api::Request request(api::Verb verb, const api::Kind& kind, std::string_view name_space,
                              const std::string& json) {
    api::Request request;
    request.verb = verb;
    request.kind = &kind;
    request.version = kind.stored_version;
    request.name_space = name_space;
    if (!json.empty()) CHECK(decode_into(request, json));
    return request;
  }
  void submit(api::Verb verb, const api::Kind& kind, std::string_view name_space,
              const std::string& json) {
    registry_.submit(request(verb, kind, name_space, json), now_,
                     [](const Result<api::Answer>& answer) {
                       CHECK_THAT(answer.has_value(), "{}", answer.error().message);
                     });
  }

  // Runs what was submitted to its end, as the registry's and the commit thread do.
  void measure(const std::string& name, const std::function<void()>& begin, bench::Report& report) {
    std::vector<double> slices{ms_of(begin)};
    double commits = 0;
    const auto commit = [&] {
      const auto batch = registry_.begin_commit();
      if (!batch) return;
      batch->commit(*store_);
      registry_.end_commit();
      batch->answer();
    };
    double commit_max = 0;
    double commit_cpu_max = 0;
    double slice_cpu_max = 0;
    while (true) {
      const double before = cpu_ms();
      const double took = ms_of(commit);
      commit_cpu_max = std::max(commit_cpu_max, cpu_ms() - before);
      commits += took;
      commit_max = std::max(commit_max, took);
      if (!registry_.unfinished()) break;
      const double decided = cpu_ms();
      slices.push_back(ms_of([&] { registry_.work(); }));
      slice_cpu_max = std::max(slice_cpu_max, cpu_ms() - decided);
    }
    double all = 0;
    for (const double slice : slices) all += slice;
    report.figure(name + ", deciding, altogether", all, "ms");
    report.figure(name + ", deciding, longest slice", *std::ranges::max_element(slices), "ms");
    report.figure(name + ", deciding, most processor time of a slice", slice_cpu_max, "ms");
    report.figure(name + ", committing, altogether", commits, "ms");
    report.figure(name + ", committing, longest", commit_max, "ms");
    report.figure(name + ", committing, most processor time", commit_cpu_max, "ms");
  }

  // How long writes of somebody else take while `begin` runs to its end, with the threads of the
  // product.
  void measure_neighbour(const std::string& name, const api::Kind& kind, const std::string& body,
                         bench::Report& report) {
    const SystemClock clock;
    app::RegistryThread thread(registry_, *store_, clock);
    const auto post = thread.post();
    std::atomic<bool> done = false;
    api::Request big = request(api::Verb::Create, kind, "default", body);
    big.user.name = "tenant";
    server::Reply reply = [&](const Result<api::Answer>& answer) {
      CHECK_THAT(answer.has_value(), "{}", answer.error().message);
      done = true;
    };
    CHECK(post(big, reply));
    std::vector<double> waits;
    for (int i = 0; !done; ++i) {
      api::Request small = request(api::Verb::Create, *api::find_kind("", "ConfigMap"), "default",
                                   fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i));
      small.user.name = "neighbour";
      waits.push_back(ms_of([&] {
        std::promise<void> answered;
        server::Reply on_answer = [&](const Result<api::Answer>& answer) {
          CHECK_THAT(answer.has_value(), "{}", answer.error().message);
          answered.set_value();
        };
        CHECK(post(small, on_answer));
        answered.get_future().wait();
      }));
    }
    std::ranges::sort(waits);
    report.figure(name + ", writes of a neighbour meanwhile", static_cast<double>(waits.size()),
                  "");
    report.figure(name + ", the longest of them", waits.back(), "ms");
  }

  std::string uid_of(const std::string& key) const { return store_->get(key)->meta().uid; }

 private:
  const Time now_ = *parse_time("2026-05-01T10:00:00Z");
  SeededEntropy entropy_{1};
  const std::unique_ptr<store::Store> store_;
  Registry registry_;
};

void fill(Bench& bench) {
  for (int i = 0; i < kNodes; ++i)
    bench.create(api::kinds::node(), "", fmt::format(R"({{"metadata":{{"name":"n{}"}}}})", i));
  bench.create(api::kinds::pod_group(), "default",
               R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}})");
  for (int i = 0; i < kPods; ++i)
    bench.create(api::kinds::pod(), "default",
                 fmt::format(R"({{"metadata":{{"name":"p{}","labels":{{"app":"train"}}}},"spec":{{)"
                             R"("schedulingGroup":{{"podGroupName":"g"}},"containers":[{{)"
                             R"("name":"c","image":"train:1","resources":{{"requests":{{)"
                             R"("cpu":"4","memory":"8Gi"}}}}}}]}}}})",
                             i));
  bench.flush();
}

std::string binding(const Bench& bench) {
  std::string pods;
  for (int i = 0; i < kPods; ++i)
    pods += fmt::format(R"({}{{"name":"p{}","uid":"{}","nodeName":"n{}"}})", i == 0 ? "" : ",", i,
                        bench.uid_of(fmt::format("pods/default/p{}", i)), i % kNodes);
  return R"({"spec":{"root":{"kind":"PodGroup","name":"g"},"pods":[)" + pods + "]}}";
}

int run(const bench::Request& request) {
  const store::testing::TemporaryDirectory directory;
  bench::Report report("Registry", request);
  Bench bench(directory.path() + "/store");
  fill(bench);
  const std::string body = binding(bench);
  bench.measure(
      fmt::format("GroupBinding of {} pods", kPods),
      [&] { bench.create(api::kinds::group_binding(), "default", body); }, report);
  bench.measure(
      fmt::format("deletecollection of {} pods", kPods),
      [&] { bench.submit(api::Verb::DeleteCollection, api::kinds::pod(), "default", ""); }, report);
  const store::testing::TemporaryDirectory another;
  Bench shared(another.path() + "/store");
  fill(shared);
  shared.measure_neighbour(fmt::format("GroupBinding of {} pods", kPods),
                           api::kinds::group_binding(), binding(shared), report);
  return report.finish();
}

}  // namespace
}  // namespace muster::server

int main(int argc, char** argv) {
  return muster::server::run(muster::bench::parse_arguments(argc, argv));
}
