#!/usr/bin/env bash
# The whole control plane under load: starts `muster up` with 5,000 pretend nodes on a data directory
# that is thrown away, runs every mode of the loader against it over HTTPS, prints what it did against
# the goals. Loader and server share the machine.
#
#   bench/end_to_end.sh [--record] [MODE ...]
#
# --record appends the table to bench/END_TO_END.md. MODE: pods, gangs, racks, jobs, jobsets, creates,
# gets, lists, watchers (default: all). MUSTER and LOADER name other binaries; MUSTER_FLAGS adds flags to `up`.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MUSTER=${MUSTER:-$ROOT/build/release/bin/muster}
LOADER=${LOADER:-$ROOT/build/release/bin/muster_loader}
RESULTS=$ROOT/bench/END_TO_END.md
readonly NODES=5000

record=
modes=()
for word in "$@"; do
  case $word in
    --record) record=yes ;;
    pods | gangs | racks | jobs | jobsets | creates | gets | lists | watchers) modes+=("$word") ;;
    *) echo "end_to_end: there is no mode '$word'" >&2; exit 2 ;;
  esac
done
((${#modes[@]} > 0)) || modes=(pods gangs racks jobs jobsets creates gets lists watchers)
for program in "$MUSTER" "$LOADER"; do
  [[ -x $program ]] || { echo "end_to_end: $program is missing; run ./dev bench loader" >&2; exit 2; }
done

WORK=$(mktemp -d)
server=
finish() {
  if [[ $server ]]; then kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; fi
  rm -rf "$WORK"
}
trap finish EXIT

# Every mode gets a fresh server, so that none pays for what another left behind.
start_server() {
  # shellcheck disable=SC2086  # flags are words
  "$MUSTER" up --listen 127.0.0.1:0 --data-dir "$WORK/data" --write-kubeconfig "$WORK/kubeconfig" \
    --zones 1 --blocks-per-zone 5 --racks-per-block 10 --nodes-per-rack $((NODES / 50)) \
    --node-resources cpu=32,memory=256Gi ${MUSTER_FLAGS:-} >"$WORK/log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    if [[ -s $WORK/kubeconfig ]] && grep -q serves "$WORK/log"; then
      sleep 3 # nodes are created
      return
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$WORK/log" >&2
  echo "end_to_end: the server did not start" >&2
  exit 1
}
stop_server() {
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=
  rm -rf "$WORK/data" "$WORK/kubeconfig" "$WORK/log"
}

run_mode() {
  local -a flags=("$1")
  case $1 in
    pods) flags+=(--pods 20000) ;;
    gangs) flags+=(--groups 3000 --group-size 3) ;;
    jobs) flags+=(--jobs 4000 --job-size 4) ;;
    racks) flags=(gangs --groups 9 --group-size 1000 --rack) ;;
  esac
  [[ $record ]] && flags+=(--markdown)
  "$LOADER" --kubeconfig "$WORK/kubeconfig" --pid "$server" "${flags[@]}"
}

status=0
for mode in "${modes[@]}"; do
  start_server
  run_mode "$mode" >"$WORK/report" || status=1
  cat "$WORK/report"
  cat "$WORK/report" >>"$WORK/table"
  stop_server
done

if [[ $record ]]; then
  {
    printf '\n## %s, %s\n\n%s, %s cores, load average before %s.\n\n| What | Value | Goal |\n|---|---|---|\n' \
      "$(date -u +%F)" "$(git -C "$ROOT" rev-parse --short HEAD)" \
      "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"
    cat "$WORK/table"
  } >>"$RESULTS"
fi
exit "$status"
