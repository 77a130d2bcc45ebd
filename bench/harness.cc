#include "bench/harness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>  // NOLINT: clock_gettime is POSIX, not C++

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace muster::bench {
namespace {

constexpr std::size_t kNameWidth = 58;

std::string duration(double us) {
  if (us <= 0) return "-";
  if (us < 10) return fmt::format("{:.2f} us", us);
  if (us < 1e3) return fmt::format("{:.0f} us", us);
  if (us < 1e6) return fmt::format("{:.2f} ms", us / 1e3);
  return fmt::format("{:.2f} s", us / 1e6);
}

std::string times(double ratio) {
  return ratio < 10 ? fmt::format("{:.2f}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

void print_row(const std::vector<std::string>& cells) {
  fmt::print("{:<{}}", cells.front(), kNameWidth);
  for (std::size_t i = 1; i < cells.size(); ++i) fmt::print(" {:>10}", cells[i]);
  fmt::print("\n");
  std::fflush(stdout);
}

[[noreturn]] void refuse(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  std::exit(2);
}

}  // namespace

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double Meter::warm_us(double share) const {
  if (attempts_.empty()) return 0;
  std::vector<double> warm(attempts_.begin() + (attempts_.size() > 1 ? 1 : 0), attempts_.end());
  std::ranges::sort(warm);
  const double at = share * static_cast<double>(warm.size() - 1);
  return warm[static_cast<std::size_t>(std::lround(at))];
}

double Meter::per_pod_us() const {
  if (pods_ == 0) return 0;
  double total = commits_us_;
  for (const double us : attempts_) total += us;
  return total / static_cast<double>(pods_);
}

Request parse_arguments(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    std::string* value = flag == "--json"       ? &request.json
                         : flag == "--markdown" ? &request.markdown
                         : flag == "--only"     ? &request.only
                                                : nullptr;
    if (value == nullptr || i + 1 == argc)
      refuse(
          fmt::format("{}: unknown or incomplete argument '{}'; there are --json FILE, "
                      "--markdown FILE and --only TEXT",
                      argv[0], flag));
    *value = argv[++i];
  }
  return request;
}

Report::Report(std::string subject, Request request)
    : subject_(std::move(subject)), request_(std::move(request)) {
  cases_.heads = {subject_,  "attempts", "cold",    "median",     "p99",
                  "per pod", "goal",     "of goal", "Kubernetes", "faster"};
  figures_.heads = {subject_, "value", "unit", "at most"};
}

void Report::run(const Case& one) {
  if (!wants(one.name)) return;
  Meter meter;
  one.setup()(meter);
  if (meter.pods() != one.pods_expected)
    fail(fmt::format("{}: {} pods were placed, {} expected ({})", one.name, meter.pods(),
                     one.pods_expected, meter.note()));

  const double median = meter.warm_us(0.5);
  const double measured = one.goal.of == Goal::Of::Pod ? meter.per_pod_us() : median;
  Row row;
  row.cells = {one.name,
               std::to_string(meter.attempts()),
               duration(meter.cold_us()),
               duration(median),
               duration(meter.warm_us(0.99)),
               duration(meter.per_pod_us()),
               duration(one.goal.us),
               one.goal.us > 0 ? times(measured / one.goal.us) : "-",
               duration(one.kubernetes_us),
               one.kubernetes_us > 0 ? times(one.kubernetes_us / median) : "-"};
  row.json = fmt::format(
      R"({{"name":{},"attempts":{},"pods":{},"cold_us":{:.2f},"median_us":{:.2f},"p99_us":{:.2f},)"
      R"("per_pod_us":{:.3f},"goal_us":{:.2f},"goal_of":"{}","kubernetes_us":{:.0f},"note":{}}})",
      quoted(one.name), meter.attempts(), meter.pods(), meter.cold_us(), median,
      meter.warm_us(0.99), meter.per_pod_us(), one.goal.us,
      one.goal.of == Goal::Of::Pod ? "pod" : "attempt", one.kubernetes_us, quoted(meter.note()));
  if (cases_.rows.empty()) print_row(cases_.heads);
  print_row(row.cells);
  cases_.rows.push_back(std::move(row));
}

void Report::figure(const std::string& name, double value, const std::string& unit,
                    double goal_max) {
  Row row;
  const auto number = [](double n) { return fmt::format("{:.{}f}", n, n < 100 ? 2 : 0); };
  row.cells = {name, number(value), unit, goal_max > 0 ? number(goal_max) : "-"};
  row.json = fmt::format(R"({{"name":{},"value":{:.3f},"unit":{},"goal_max":{:.3f}}})",
                         quoted(name), value, quoted(unit), goal_max);
  if (figures_.rows.empty()) print_row(figures_.heads);
  print_row(row.cells);
  figures_.rows.push_back(std::move(row));
}

void Report::remark(std::string sentence) {
  fmt::print("{}\n", sentence);
  remarks_.push_back(std::move(sentence));
}

void Report::fail(const std::string& sentence) {
  fmt::print("FAILED: {}\n", sentence);
  failures_.push_back(sentence);
}

int Report::finish() {
  if (!request_.json.empty()) write_json();
  if (!request_.markdown.empty()) write_markdown();
  return failures_.empty() ? 0 : 1;
}

void Report::write_json() const {
  std::ofstream file(request_.json);
  const auto list = [](const Table& table) {
    std::vector<std::string> rows;
    for (const Row& row : table.rows) rows.push_back(row.json);
    return fmt::format("{}", fmt::join(rows, ",\n  "));
  };
  std::vector<std::string> failures;
  for (const std::string& failure : failures_) failures.push_back(quoted(failure));
  file << fmt::format(
      "{{\"subject\":{},\n \"cases\":[{}],\n \"figures\":[{}],\n \"failures\":[{}]}}\n",
      quoted(subject_), list(cases_), list(figures_), fmt::join(failures, ","));
  if (!file.flush()) refuse("cannot write " + request_.json);
}

void Report::write_markdown() const {
  std::ofstream file(request_.markdown);
  file << "## " << subject_ << "\n";
  for (const Table* table : {&cases_, &figures_}) {
    if (table->rows.empty()) continue;
    file << fmt::format("\n| {} |\n|---|{}\n", fmt::join(table->heads, " | "),
                        fmt::join(std::vector<std::string>(table->heads.size() - 1, "--:|"), ""));
    for (const Row& row : table->rows) file << fmt::format("| {} |\n", fmt::join(row.cells, " | "));
  }
  if (!remarks_.empty()) file << "\n";
  for (const std::string& sentence : remarks_) file << "- " << sentence << "\n";
  for (const std::string& sentence : failures_) file << "- FAILED: " << sentence << "\n";
  if (!file.flush()) refuse("cannot write " + request_.markdown);
}

}  // namespace muster::bench
