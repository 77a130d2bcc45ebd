#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <set>

namespace muster {

void Counter::add(double by) const {
  if (series_ != nullptr) series_->Increment(by);
}

void Gauge::set(double value) const {
  if (series_ != nullptr) series_->Set(value);
}

void Gauge::add(double by) const {
  if (series_ != nullptr) series_->Increment(by);
}

void Histogram::observe(double value) const {
  if (series_ != nullptr) series_->Observe(value);
}

struct Metrics::State {
  // The labels a series gets: its own, or those of the overflow.
  Labels admit(const std::string& name, const Labels& labels) {
    const std::lock_guard lock(mutex);
    std::set<Labels>& known = series[name];
    if (known.contains(labels)) return labels;
    if (known.size() < kSeriesMax) {
      known.insert(labels);
      return labels;
    }
    Labels other = labels;
    for (auto& [key, value] : other) value = "other";
    return other;
  }

  std::mutex mutex;
  std::map<std::string, std::set<Labels>> series;  // under mutex; by name
  prometheus::Registry registry;                   // has a lock of its own
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry);
  Counter out;
  out.series_ = &family.Add(state_->admit(name, labels));
  return out;
}

Gauge Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry);
  Gauge out;
  out.series_ = &family.Add(state_->admit(name, labels));
  return out;
}

Histogram Metrics::histogram(const std::string& name, const std::string& help, const Labels& labels,
                             std::span<const double> bounds) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
  Histogram out;
  out.series_ = &family.Add(state_->admit(name, labels),
                            prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end()));
  return out;
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace muster
