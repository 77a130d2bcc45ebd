#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace muster {

// A number that only grows, one that moves, and a distribution. They are handles: cheap to copy,
// usable from any thread, valid as long as the Metrics they come from. One that was never
// registered drops what it is given, so code can count without asking whether anybody looks.
class Counter {
 public:
  void add(double by = 1) const;

 private:
  friend class Metrics;
  prometheus::Counter* series_ = nullptr;
};

class Gauge {
 public:
  void set(double value) const;
  void add(double by) const;

 private:
  friend class Metrics;
  prometheus::Gauge* series_ = nullptr;
};

class Histogram {
 public:
  void observe(double value) const;

 private:
  friend class Metrics;
  prometheus::Histogram* series_ = nullptr;
};

// The numbers of this process under upstream's names, in the Prometheus text format. The maker of a
// component passes it one of these; any thread may register, count and read.
class Metrics {
 public:
  using Labels = std::map<std::string, std::string>;

  // Series per name. Label values beyond that share one series whose values are all "other":
  // memory stays bounded, sums stay right.
  static constexpr std::size_t kSeriesMax = 1000;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The same name and labels give the same series. A name keeps one type and one set of label keys.
  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  // `bounds` are the upper ends of the buckets, ascending; +Inf is added automatically.
  Histogram histogram(const std::string& name, const std::string& help, const Labels& labels,
                      std::span<const double> bounds);

  std::string text() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace muster
