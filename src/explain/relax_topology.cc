#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/values/preferred_topology.h"
#include "explain/edits.h"
#include "explain/relax.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;

constexpr std::size_t kNamedMax = 3;
constexpr std::size_t kFoundMax = 6;  // more than this is no advice

// From narrow to wide.
constexpr std::array<std::string_view, 12> kPlaces{
    "rack",       "leaf",  "row",  "slice",      "subblock", "block",
    "superslice", "spine", "room", "datacenter", "zone",     "region"};

// Labels that tell where a node stands, not what it is: a pool or an image may nest by accident.
bool names_a_place(std::string_view key) {
  return key.find("topology") != std::string_view::npos ||
         std::ranges::find(kPlaces, word_of(key)) != kPlaces.end();
}

// How wide the word sounds, for keys that the nodes do not tell apart.
std::ptrdiff_t width_of(std::string_view key) {
  const auto at = std::ranges::find(kPlaces, word_of(key));
  return at == kPlaces.end() ? 0 : 1 + (at - kPlaces.begin());
}

// The keys of which every domain of `key` lies inside one domain, the narrowest first. By what the
// nodes' labels say now.
std::vector<std::string> wider_keys(const std::vector<ObjectPtr>& nodes, const std::string& key) {
  std::map<std::string, std::map<std::string, std::string>> outer;  // key, inner domain, its domain
  std::set<std::string> broken;
  std::set<std::string> domains;
  std::size_t labelled = 0;
  std::map<std::string, std::size_t> seen;
  for (const ObjectPtr& node : nodes) {
    const std::string* inner = api::lookup(node->meta().labels, key);
    if (inner == nullptr) continue;
    domains.insert(*inner);
    ++labelled;
    for (const auto& [other, value] : node->meta().labels) {
      if (other == key || !names_a_place(other)) continue;
      ++seen[other];
      if (outer[other].emplace(*inner, value).first->second != value) broken.insert(other);
    }
  }
  std::vector<std::pair<std::size_t, std::string>> found;  // domains, key
  for (const auto& [other, by_inner] : outer) {
    std::set<std::string> values;
    for (const auto& [inner, value] : by_inner) values.insert(value);
    if (!broken.contains(other) && seen[other] == labelled && values.size() < domains.size())
      found.emplace_back(values.size(), other);
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    return std::pair(width_of(a.second), a.second) < std::pair(width_of(b.second), b.second);
  });
  std::vector<std::string> keys;
  for (auto& [count, other] : found) keys.push_back(std::move(other));
  return keys;
}

bool widen(Trial& trial, const Level& level, const ObjectPtr& before, const std::string& key,
           std::vector<Relaxation>& out) {
  Edits edits{{before, with_topology(*before, key)}};
  const std::optional<std::string> domain = trial.fits(edits);
  if (!domain) return false;
  const std::string where =
      level.is_subject && !domain->empty()
          ? fmt::format("; it would stand in {} {}",
                        level.generators.empty() ? word_of(key) : "placement", *domain)
          : "";
  out.push_back({.kind = RelaxationKind::WiderTopology,
                 .sentence = fmt::format("let {} spread over one {} ({}) instead of one {}{}",
                                         name_of(level.key), word_of(key), key,
                                         word_of(level.topology_key), where),
                 .command = "",
                 .amount = 0,
                 .domain = *domain,
                 .edits = std::move(edits)});
  return true;
}

void widen_level(Trial& trial, const Level& level, std::vector<Relaxation>& out) {
  const scheduler::GroupSpec* spec = trial.model().forest().find(level.key);
  if (spec == nullptr) return;
  const ObjectPtr before = spec->object;
  for (const std::string& key : wider_keys(trial.model().nodes(), level.topology_key))
    if (widen(trial, level, before, key, out)) return;
  Edits edits{{before, with_topology(*before, "")}};
  if (!trial.fits(edits)) return;
  out.push_back(
      {.kind = RelaxationKind::NoTopology,
       .sentence = fmt::format("let {} spread over several {} (no topology constraint)",
                               name_of(level.key), plural_of(word_of(level.topology_key))),
       .command = "",
       .amount = 0,
       .domain = "",
       .edits = std::move(edits)});
}

}  // namespace

void widen_topology(Trial& trial, std::vector<Relaxation>& out) {
  const std::size_t others = out.size();
  for (const Level* level : trial.changeable()) {
    if (level->topology_key.empty() || level->state == State::Scheduled) continue;
    widen_level(trial, *level, out);
    if (out.size() - others == kFoundMax || trial.is_spent()) return;
  }
}

// Attempts of a trial never wait, so that none has to be changed for this one.
std::optional<Relaxation> without_wait(Trial& trial,
                                       const std::vector<scheduler::GroupKey>& insisting) {
  std::optional<std::string> domain = trial.fits({});
  if (!domain) return std::nullopt;
  Edits edits;
  std::vector<std::string> names;
  std::vector<std::string> commands;
  for (const scheduler::GroupKey& key : insisting) {
    const ObjectPtr before = trial.model().forest().find(key)->object;
    edits.push_back(
        {before, with_annotation(*before, api::kPreferredTopologyWaitAnnotation, "0s")});
    names.push_back(name_of(key));
    commands.push_back(fmt::format("kubectl -n {} annotate {} {} {}=0s --overwrite", key.name_space,
                                   before->kind().singular, key.name,
                                   api::kPreferredTopologyWaitAnnotation));
  }
  const bool are_few = names.size() <= kNamedMax;
  const std::string who =
      are_few ? fmt::format("{}", fmt::join(names, " and ")) : count_of(std::ssize(names), "group");
  return Relaxation{
      .kind = RelaxationKind::ShorterWait,
      .sentence = fmt::format("let {} wait no longer: it takes as few domains as possible", who),
      .command = are_few ? fmt::format("{}", fmt::join(commands, " && ")) : "",
      .amount = 0,
      .domain = *std::move(domain),
      .edits = std::move(edits)};
}

}  // namespace muster::explain
