#include "controllers/deployment/set_annotations.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/values/string_pairs.h"

namespace muster::controllers {
namespace {

constexpr std::array<std::string_view, 6> kNotCopied{
    "kubectl.kubernetes.io/last-applied-configuration",
    kRevision,
    kRevisionHistory,
    kDesiredReplicas,
    kMaxReplicas,
    "deprecated.deployment.rollback.to"};
constexpr std::size_t kHistoryMax = 2000;  // bytes

const std::string* annotation(const api::Object* set, std::string_view key) {
  return set == nullptr ? nullptr : api::lookup(set->meta().annotations, key);
}

void put(const api::Object* set, std::string_view key, const std::string& value, Annotations& out) {
  const std::string* old = annotation(set, key);
  if (old == nullptr || *old != value) out.emplace(key, value);
}

// The oldest make room for the newest; null if even that does not fit.
std::optional<std::string> appended(std::string_view history, std::string_view revision) {
  if (history.empty()) return std::string(revision);
  while (history.size() + 1 + revision.size() > kHistoryMax) {
    const std::size_t comma = history.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    history.remove_prefix(comma + 1);
  }
  return std::string(history) + "," + std::string(revision);
}

}  // namespace

std::optional<std::int64_t> annotated_number(const api::Object& object, std::string_view key) {
  const std::string* text = annotation(&object, key);
  if (text == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return number;
}

std::int64_t revision_of(const api::Object& set) {
  return annotated_number(set, kRevision).value_or(0);
}

Annotations newest_set_annotations(const api::Object& deployment, const api::Object* set,
                                   std::int64_t revision) {
  Annotations out;
  for (const auto& [key, value] : deployment.meta().annotations)
    if (std::ranges::find(kNotCopied, key) == kNotCopied.end()) put(set, key, value, out);
  const std::string* old = annotation(set, kRevision);
  if (set != nullptr && revision_of(*set) >= revision) return out;
  out[std::string(kRevision)] = std::to_string(revision);
  if (old == nullptr) return out;
  const std::string* history = annotation(set, kRevisionHistory);
  if (auto longer = appended(history == nullptr ? std::string_view() : *history, *old))
    out[std::string(kRevisionHistory)] = *std::move(longer);
  return out;
}

Annotations size_annotations(const api::Object* set, std::int64_t desired, std::int64_t at_most) {
  Annotations out;
  put(set, kDesiredReplicas, std::to_string(desired), out);
  put(set, kMaxReplicas, std::to_string(at_most), out);
  return out;
}

}  // namespace muster::controllers
