#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A small harness for programs that measure. A case is a name, a setup and a body; the body tells a
// Meter what it does and how many pods it placed. Time is CPU time of this thread: what the engine
// costs, no matter who else uses the machine.
namespace muster::bench {

double cpu_us();

// The durations of one case. The first attempt on a new cluster is cold: names are sorted, labels
// interned, the topology and everything per class built. The others are warm.
class Meter {
 public:
  // Times one attempt.
  template <typename Work>
  auto attempt(Work&& work) {
    const double start = cpu_us();
    auto result = work();
    attempts_.push_back(cpu_us() - start);
    return result;
  }
  // Times what follows the attempt: its plan taken into the node table, as the scheduler does.
  template <typename Work>
  void commit(Work&& work) {
    const double start = cpu_us();
    work();
    commits_us_ += cpu_us() - start;
  }
  void placed(std::size_t pods) { pods_ += pods; }
  // What the case says about its result: a domain, the sentence of a refusal.
  void note(std::string text) { note_ = std::move(text); }

  double cold_us() const { return attempts_.empty() ? 0 : attempts_.front(); }
  // Of the warm attempts; of the cold one if there is no other. `share` is 0.5 for the median.
  double warm_us(double share) const;
  // Attempts and commits together, per pod placed; 0 if none was.
  double per_pod_us() const;
  std::size_t attempts() const { return attempts_.size(); }
  std::size_t pods() const { return pods_; }
  const std::string& note() const { return note_; }

 private:
  std::vector<double> attempts_;
  double commits_us_ = 0;
  std::size_t pods_ = 0;
  std::string note_;
};

// What we build for in a case, in µs of CPU time. 0: nothing.
struct Goal {
  enum class Of { Attempt, Pod };
  double us = 0;
  Of of = Of::Attempt;
};

struct Case {
  std::string name;
  // Makes what the body works on; not timed.
  std::function<std::function<void(Meter&)>()> setup;
  // The pods it must place in all; anything else is a failure of the program.
  std::size_t pods_expected = 0;
  Goal goal = {};
  // What Kubernetes 1.37 takes for one such attempt, in µs, where somebody measured it. 0: unknown.
  double kubernetes_us = 0;
};

// What a program was asked to do: --json FILE, --markdown FILE, --only TEXT.
struct Request {
  std::string json;
  std::string markdown;
  std::string only;  // cases whose name contains it
};
// Ends the program with a sentence if the arguments make no sense.
Request parse_arguments(int argc, char** argv);

// Runs cases, prints a row for each on the terminal, and keeps all for the files.
class Report {
 public:
  Report(std::string subject, Request request);

  bool wants(std::string_view name) const { return name.find(request_.only) != name.npos; }
  void run(const Case& one);
  // A figure that is not made of attempts, in its own unit; a goal of 0 is none.
  void figure(const std::string& name, double value, const std::string& unit, double goal_max = 0);
  // A sentence that is printed below the table.
  void remark(std::string sentence);
  void fail(const std::string& sentence);

  // Writes the files; the exit code of the program: 1 if something failed.
  int finish();

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string json;
  };
  struct Table {
    std::vector<std::string> heads;
    std::vector<Row> rows;
  };
  void write_json() const;
  void write_markdown() const;

  std::string subject_;
  Request request_;
  Table cases_;
  Table figures_;
  std::vector<std::string> remarks_;
  std::vector<std::string> failures_;
};

}  // namespace muster::bench
