#include "server/http/negotiate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace muster::server {
namespace {

constexpr std::string_view kMetaGroup = "meta.k8s.io";

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Cuts the part before `separator` off the front of `text` and trims it.
std::string_view cut_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trim(part);
}

// 0 ≤ q ≤ 1; what cannot be read counts as 1, as in Go's goautoneg.
double read_quality(std::string_view text) {
  double quality = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  // No number compares with what "nan" reads as, so it would spoil the order of the clauses.
  if (error != std::errc() || end != text.data() + text.size() || std::isnan(quality)) return 1;
  return std::clamp(quality, 0.0, 1.0);
}

void read_parameter(std::string_view parameter, MediaRange& range) {
  const std::string key = lower_case(cut_until(parameter, '='));
  std::string_view value = trim(parameter);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  if (key == "q") range.quality = read_quality(value);
  if (key == "as") range.as = value;
  if (key == "g") range.group = value;
  if (key == "v") range.version = value;
}

bool means_json(const MediaRange& range) {
  return range.type == "application/json" || range.type == "application/*" || range.type == "*/*";
}

bool is_plain(const MediaRange& range) {
  return range.as.empty() && range.group.empty() && range.version.empty();
}

Error not_acceptable() {
  return make_error(
      Reason::NotAcceptable,
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
      "application/vnd.kubernetes.protobuf");
}

}  // namespace

std::vector<MediaRange> parse_accept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  while (!accept.empty()) {
    std::string_view clause = cut_until(accept, ',');
    if (clause.empty()) continue;
    MediaRange range;
    range.type = lower_case(cut_until(clause, ';'));
    while (!clause.empty()) read_parameter(cut_until(clause, ';'), range);
    ranges.push_back(std::move(range));
  }
  std::ranges::stable_sort(ranges, std::greater<>(), &MediaRange::quality);
  return ranges;
}

Result<NegotiatedForm> negotiate_form(std::string_view accept, Answerable what) {
  // The two headers that nearly every request has, without taking them apart.
  if (accept.empty() || accept == "application/json") return NegotiatedForm{};
  for (const MediaRange& range : parse_accept(accept)) {
    if (!means_json(range) || range.quality == 0) continue;
    if (is_plain(range)) return NegotiatedForm{};
    // A transform we don't know means the clause is skipped, not an error.
    if (range.group != kMetaGroup) continue;
    if (range.as == "Table" && what.table) {
      if (range.version == "v1") return NegotiatedForm{.form = Form::Table};
      if (range.version == "v1beta1")
        return NegotiatedForm{.form = Form::Table, .meta_version = "v1beta1"};
    }
    if (range.version != "v1") continue;
    const bool one = range.as == "PartialObjectMetadata";
    if (!one && range.as != "PartialObjectMetadataList") continue;
    // Upstream chooses the clause first and finds the wrong form later, so there is no falling
    // through.
    if (one == what.list) return fail(not_acceptable());
    return NegotiatedForm{.form = Form::Metadata};
  }
  return fail(not_acceptable());
}

Result<bool> negotiate_aggregated_discovery(std::string_view accept) {
  if (accept.empty()) return false;
  for (const MediaRange& range : parse_accept(accept)) {
    if (!means_json(range) || range.quality == 0) continue;
    if (range.group == "apidiscovery.k8s.io" && range.version == "v2" &&
        range.as == "APIGroupDiscoveryList")
      return true;
    if (is_plain(range)) return false;
  }
  return fail(not_acceptable());
}

Result<void> negotiate_json(std::string_view accept) {
  if (accept.empty() || accept == "application/json") return {};
  const std::vector<MediaRange> ranges = parse_accept(accept);
  const bool good = std::ranges::any_of(
      ranges, [](const MediaRange& range) { return means_json(range) && range.quality > 0; });
  if (!good) return fail(not_acceptable());
  return {};
}

Result<std::string> negotiate_openapi_v2(std::string_view accept) {
  constexpr std::string_view kProtobuf =
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  constexpr std::string_view kOldProtobuf =
      "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  if (accept.empty()) return "application/json";
  for (const MediaRange& range : parse_accept(accept)) {
    if (means_json(range)) return "application/json";
    // Clients ask by the old name, but Go refuses an answer whose media type has an @ in it.
    if (range.type == kProtobuf || range.type == kOldProtobuf) return std::string(kProtobuf);
  }
  return fail(Reason::NotAcceptable,
              "406: Not Acceptable\n\nAvailable representations: application/json, {}, {}",
              kProtobuf, kOldProtobuf);
}

Result<BodyFormat> body_format(std::string_view content_type) {
  const std::string type = lower_case(cut_until(content_type, ';'));
  if (type.empty() || type == "application/json") return BodyFormat::Json;
  if (type == "application/yaml") return BodyFormat::Yaml;
  if (type == "application/vnd.kubernetes.protobuf") return BodyFormat::Protobuf;
  return fail(Reason::UnsupportedMediaType,
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

Result<api::PatchType> patch_type(std::string_view content_type) {
  const std::string type = lower_case(cut_until(content_type, ';'));
  if (type == "application/json-patch+json") return api::PatchType::JsonPatch;
  if (type == "application/merge-patch+json") return api::PatchType::Merge;
  if (type == "application/strategic-merge-patch+json") return api::PatchType::StrategicMerge;
  if (type == "application/apply-patch+yaml") return api::PatchType::Apply;
  return fail(Reason::UnsupportedMediaType, "415: Unsupported Media Type");
}

bool accepts_gzip(std::string_view accept_encoding) {
  if (accept_encoding == "gzip") return true;
  const std::vector<MediaRange> codings = parse_accept(accept_encoding);
  return std::ranges::any_of(codings, [](const MediaRange& coding) {
    return coding.type == "gzip" && coding.quality > 0;
  });
}

}  // namespace muster::server
