#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "api/request.h"
#include "base/time.h"

namespace muster::server {

// Counts requests under upstream's metric names and writes them as Prometheus text: those that
// arrive over HTTP and those of components in this process. Any thread.
class RequestMeter {
 public:
  // Texts must live forever: names from the kind tables, or literals.
  struct Labels {
    std::string_view verb;  // "LIST"
    std::string_view group;
    std::string_view version;
    std::string_view resource;
    std::string_view subresource;  // for other endpoints their path
    std::string_view scope;        // "cluster", "namespace", "resource" or ""
    bool dry_run = false;
    friend auto operator<=>(const Labels&, const Labels&) = default;
  };

  // Of a request that names a kind, in one of its versions. Only names from our own tables become
  // labels: a client must not be able to invent series.
  static Labels labels_of(const api::Request& request);
  void count(const Labels& labels, int code, Duration took);

  std::string text() const;

 private:
  static constexpr std::array kBuckets = {0.005, 0.025, 0.05, 0.1,  0.2,  0.4,  0.6, 0.8,
                                          1.0,   1.25,  1.5,  2.0,  3.0,  4.0,  5.0, 6.0,
                                          8.0,   10.0,  15.0, 20.0, 30.0, 45.0, 60.0};
  struct Series {
    std::map<int, std::uint64_t> by_code;
    std::array<std::uint64_t, kBuckets.size()> buckets{};  // not cumulative
    std::uint64_t total = 0;
    double seconds = 0;
  };

  mutable std::mutex mutex_;
  std::map<Labels, Series> series_;  // under mutex_
};

}  // namespace muster::server
