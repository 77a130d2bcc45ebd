#!/usr/bin/env bash
# Alerts and dashboard ask only for metrics that docs/metrics.md lists, and the sources have every name that is listed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly NAME='\b(scheduler|muster|workqueue|rest_client|process|apiserver|job|workload)_[a-z0-9_]+\b'

bad=0
complain() {
  printf '%s\n' "$1"
  bad=1
}

listed=$(grep -oE "\`$NAME\`" docs/metrics.md | tr -d '`' | sort -u)
[[ $(wc -l <<<"$listed") -gt 30 ]] || complain "docs/metrics.md lists too few names: is its form another one?"
for name in $listed; do
  grep -rqF --include='*.cc' --include='*.h' "\"$name\"" src || complain "docs/metrics.md: no source has the metric $name"
done

asked=$(grep -ohE "$NAME" docs/deploy/alerts.yaml docs/deploy/dashboard.json | sed -E 's/_(bucket|sum|count)$//' | sort -u)
[[ $(wc -l <<<"$asked") -gt 10 ]] || complain "alerts and dashboard ask for too few metrics: is their form another one?"
for name in $asked; do
  grep -qxF "$name" <<<"$listed" || complain "docs/deploy: docs/metrics.md does not list $name"
done
exit "$bad"
