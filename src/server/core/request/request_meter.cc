#include "server/core/request/request_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/kinds/kind.h"

namespace muster::server {
namespace {

std::string label_text(const RequestMeter::Labels& labels) {
  return fmt::format(
      R"(component="apiserver",dry_run="{}",group="{}",resource="{}",scope="{}",subresource="{}",verb="{}",version="{}")",
      labels.dry_run ? "All" : "", labels.group, labels.resource, labels.scope, labels.subresource,
      labels.verb, labels.version);
}

std::string_view verb_label(api::Verb verb) {
  switch (verb) {
    case api::Verb::Get: return "GET";
    case api::Verb::List: return "LIST";
    case api::Verb::Watch: return "WATCH";
    case api::Verb::Create: return "POST";
    case api::Verb::Update: return "PUT";
    case api::Verb::Patch: return "PATCH";
    case api::Verb::Delete: return "DELETE";
    case api::Verb::DeleteCollection: return "DELETECOLLECTION";
  }
  return "";
}

}  // namespace

RequestMeter::Labels RequestMeter::labels_of(const api::Request& request) {
  Labels labels;
  labels.verb = verb_label(request.verb);
  labels.group = request.kind->group;
  labels.version = *std::ranges::find(request.kind->versions, request.version);
  labels.resource = request.kind->plural;
  if (const api::Subresource* sub = request.kind->subresource(request.subresource))
    labels.subresource = sub->name;
  labels.scope = !request.name.empty()         ? "resource"
                 : !request.name_space.empty() ? "namespace"
                                               : "cluster";
  return labels;
}

void RequestMeter::count(const Labels& labels, int code, Duration took) {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::ranges::lower_bound(kBuckets, seconds);
  const std::lock_guard lock(mutex_);
  Series& series = series_[labels];
  ++series.by_code[code];
  ++series.total;
  series.seconds += seconds;
  if (bucket != kBuckets.end())
    ++series.buckets[static_cast<std::size_t>(bucket - kBuckets.begin())];
}

std::string RequestMeter::text() const {
  std::string out;
  const auto to = std::back_inserter(out);
  const std::lock_guard lock(mutex_);
  out +=
      "# HELP apiserver_request_total Requests answered, by verb, resource and response code.\n"
      "# TYPE apiserver_request_total counter\n";
  for (const auto& [labels, series] : series_)
    for (const auto& [code, count] : series.by_code)
      fmt::format_to(to, "apiserver_request_total{{code=\"{}\",{}}} {}\n", code, label_text(labels),
                     count);

  out +=
      "# HELP apiserver_request_duration_seconds Time from request to answer, by verb and "
      "resource.\n"
      "# TYPE apiserver_request_duration_seconds histogram\n";
  for (const auto& [labels, series] : series_) {
    const std::string text = label_text(labels);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kBuckets.size(); ++i) {
      below += series.buckets[i];
      fmt::format_to(to, "apiserver_request_duration_seconds_bucket{{{},le=\"{}\"}} {}\n", text,
                     kBuckets[i], below);
    }
    fmt::format_to(to, "apiserver_request_duration_seconds_bucket{{{},le=\"+Inf\"}} {}\n", text,
                   series.total);
    fmt::format_to(to, "apiserver_request_duration_seconds_sum{{{}}} {}\n", text, series.seconds);
    fmt::format_to(to, "apiserver_request_duration_seconds_count{{{}}} {}\n", text, series.total);
  }
  return out;
}

}  // namespace muster::server
