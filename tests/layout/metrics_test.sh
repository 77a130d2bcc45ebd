#!/usr/bin/env bash
# docs/metrics.md lists exactly the metrics that the sources have, and alerts and dashboard ask only for those.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly NAME='[a-z]+(_[a-z0-9]+)+'
readonly OURS='(scheduler|muster|workqueue|rest_client|process|apiserver|job_controller|leader_election)_[a-z0-9_]+'

bad=0
complain() {
  printf '%s\n' "$1"
  bad=1
}

# The names in the sources: those with a prefix that nothing else has, literals before a help text, and what is written
# in the text format by hand.
product() {
  find src \( -name '*.cc' -o -name '*.h' \) -not -name '*_test.cc' -not -name '*_tests.cc' -not -name '*_testing.h' \
    -exec cat {} + | tr '\n' ' '
}
served=$(product | grep -oE "\"$OURS\"|\"$NAME\", *\"[A-Z]|# TYPE $NAME" | sed -E 's/^(# TYPE |")//; s/".*//' | sort -u)
[[ $(wc -l <<<"$served") -gt 60 ]] || complain "the sources have too few metrics: is their form another one?"

# The first column of every table.
listed=$(grep -E '^\| `' docs/metrics.md | cut -d'|' -f2 | grep -oE "$NAME" | sort -u)
for name in $(comm -13 <(printf '%s\n' "$served") <(printf '%s\n' "$listed")); do
  complain "docs/metrics.md: no source has the metric $name"
done
for name in $(comm -23 <(printf '%s\n' "$served") <(printf '%s\n' "$listed")); do
  complain "docs/metrics.md does not list $name"
done

asked=$(grep -ohE "\b$OURS" docs/deploy/alerts.yaml docs/deploy/dashboard.json | sed -E 's/_(bucket|sum|count)$//' | sort -u)
[[ $(wc -l <<<"$asked") -gt 10 ]] || complain "alerts and dashboard ask for too few metrics: is their form another one?"
for name in $asked; do
  grep -qxF "$name" <<<"$listed" || complain "docs/deploy: docs/metrics.md does not list $name"
done
exit "$bad"
