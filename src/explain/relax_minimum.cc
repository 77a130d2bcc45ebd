#include <fmt/format.h>

#include "explain/edits.h"
#include "explain/relax.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using scheduler::GroupKind;

constexpr std::size_t kGroupsMax = 8;

std::string patch_command(const scheduler::GroupKey& key, std::int64_t minimum) {
  const bool is_leaf = key.kind == GroupKind::PodGroup;
  return fmt::format(
      R"(kubectl -n {} patch {} {} --type merge -p '{{"spec":{{"schedulingPolicy":{{"gang":{{"{}":{}}}}}}}}}')",
      key.name_space, is_leaf ? "podgroup" : "compositepodgroup", key.name, minimum_field(key.kind),
      minimum);
}

// The largest minimum below the present one that fits: it was tried, and the next larger one was
// tried or is what fails now.
void lower_minimum(Trial& trial, const Level& level, std::vector<Relaxation>& out) {
  const scheduler::GroupSpec* spec = trial.model().forest().find(level.key);
  if (spec == nullptr) return;
  const api::ObjectPtr before = spec->object;
  const auto with = [&](std::int64_t minimum) {
    return Edits{{before, with_minimum(*before, minimum)}};
  };
  std::optional<std::string> domain = trial.fits(with(1));
  if (!domain) return;
  std::int64_t fits = 1;
  std::int64_t fails = level.minimum;
  while (fails - fits > 1) {
    const std::int64_t middle = fits + (fails - fits) / 2;
    if (std::optional<std::string> there = trial.fits(with(middle))) {
      fits = middle;
      domain = std::move(there);
    } else {
      if (trial.is_spent()) return;  // "the largest" could not be said
      fails = middle;
    }
  }
  const bool is_leaf = level.key.kind == GroupKind::PodGroup;
  out.push_back(
      {.kind = RelaxationKind::SmallerMinimum,
       .sentence = fmt::format("lower {} of {} from {} to {}{}", minimum_field(level.key.kind),
                               name_of(level.key), level.minimum, fits,
                               is_leaf ? ""
                                       : " (needs the gate MutableMinGroupCount, or a new "
                                         "group)"),
       .command = patch_command(level.key, fits),
       .amount = fits,
       .domain = *domain,
       .edits = with(fits)});
}

}  // namespace

void lower_minimums(Trial& trial, std::vector<Relaxation>& out) {
  std::size_t tried = 0;
  for (const Level* level : trial.obstacles()) {
    if (!level->gang || level->minimum <= 1) continue;
    if (++tried > kGroupsMax) return;
    lower_minimum(trial, *level, out);
  }
}

}  // namespace muster::explain
