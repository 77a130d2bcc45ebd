#!/usr/bin/env bash
# compare.sh: the same load on three stacks, printed side by side as ratios: kube-apiserver with kube-scheduler, the same
# kube-apiserver with Muster's scheduler, and `muster up`. Then a full cluster: how long either scheduler takes from its start to
# its first decision, against the raw lists of nodes and pods, and how long `muster explain` takes. Of speed it judges nothing: the
# machine, and what else runs on it, decide about the numbers; ratios move less.
#
# LOADER is bench/loader's binary. NODES (1000) and PODS (3000) are the size of the load, FULL_NODES (5000) and FULL_PODS
# (50000) that of the full cluster. PARTS (load full) chooses; KEEP names a folder for the logs.
. "$(dirname "$0")/lib.sh"

LOADER=${LOADER:-$ROOT/build/release/bin/muster_loader}
NODES=${NODES:-1000}
PODS=${PODS:-3000}
FULL_NODES=${FULL_NODES:-5000}
FULL_PODS=${FULL_PODS:-50000}
PARTS=${PARTS:-load full}
[ -x "$LOADER" ] || skip "no loader; ./dev test-kubernetes --long builds it"

cpu_ms() { # PID: user and system time so far
  awk -v hz="$(getconf CLK_TCK)" '{sub(/^.*\) /, ""); print int(($12 + $13) * 1000 / hz)}' "/proc/$1/stat"
}
memory_kib() { awk -v field="$2:" '$1 == field {print $2}' "/proc/$1/status"; } # PID VmRSS|VmHWM
now_ms() { date +%s%3N; }
lines=()
# note NAME UNIT KUBE MUSTER: a row of the table.
note() { lines+=("$(awk -v name="$1" -v unit="$2" -v kube="$3" -v ours="$4" 'BEGIN {
  printf "%-46s %12.1f %12.1f %-8s %8.3f", name, kube, ours, unit, (kube > 0 ? ours / kube : 0)}')"); }
table() { # TITLE
  printf '\n%-46s %12s %12s %-8s %8s\n' "$1" Kubernetes Muster "" ratio
  printf '%s\n' "${lines[@]}"
  lines=()
}

# Either scheduler as the default one, without an election, and without a limit of its own on requests.
start() { # kube|muster NAME: PID
  cat >"$WORK/compare.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $KUBECONFIG, qps: 5000, burst: 5000}
leaderElection: {leaderElect: false}
END
  case $1 in
    kube) run_in_background "$2" "$KUBERNETES" kube-scheduler --config "$WORK/compare.yaml" --secure-port 0 \
      --feature-gates "$SCHEDULER_GATES" --authentication-kubeconfig "$KUBECONFIG" \
      --authorization-kubeconfig "$KUBECONFIG" ;;
    muster) run_in_background "$2" "$MUSTER" scheduler --kubeconfig "$KUBECONFIG" --config "$WORK/compare.yaml" --secure-port 0 ;;
  esac
  PID=$LAST
}
stop() { kill "$1" 2>/dev/null && wait "$1" 2>/dev/null; }

default_pod() { pod "$1" 0.1 | sed '/schedulerName/d' | k create -f - >/dev/null; } # NAME
wait_bound() { # NAME: until the pod has a node, by a watch
  local watch at="https://127.0.0.1:$API_PORT/api/v1/namespaces/default/pods"
  : >"$WORK/watch.json"
  curl -sNk --max-time 300 -H "Authorization: Bearer admin-token" \
    "$at?watch=true&fieldSelector=metadata.name%3D$1,spec.nodeName%21%3D" >"$WORK/watch.json" &
  watch=$!
  while [ ! -s "$WORK/watch.json" ] && kill -0 "$watch" 2>/dev/null; do sleep 0.02; done
  kill "$watch" 2>/dev/null
}

# load NAME PID MODE: the rate, and what the process and the servers spent on it, once its events are written.
declare -A rate cpu memory stack
load() {
  local before spent out flags=(--pods "$PODS" --clean pods)
  # Groups stay: without a kube-controller-manager nobody takes their finalizer off.
  [ "$3" = gangs ] && flags=(--groups $((PODS / 10)) --group-size 10 gangs)
  spent=$(servers_ms)
  before=$(cpu_ms "$2")
  out=$("$LOADER" --kubeconfig "$KUBECONFIG" --patience 300 --json --namespace "load-$1-$3" "${flags[@]}" 2>"$WORK/loader-$1.log")
  sleep 2
  rate[$1 $3]=$(python3 -c 'import json, sys
found = json.loads(sys.stdin.read().splitlines()[0])
print(found["values"].get("pods/s, created to bound", {}).get("value", 0))
print(*found["failures"], sep="\n", file=sys.stderr)' <<<"$out" 2>>"$WORK/loader-$1.log")
  cpu[$1 $3]=$(($(cpu_ms "$2") - before))
  stack[$1 $3]=$((cpu[$1 $3] + $(servers_ms) - spent))
  memory[$1 $3]=$(memory_kib "$2" VmHWM)
  awk "BEGIN {exit !(${rate[$1 $3]:-0} > 0)}"
  pass_or_fail $? "$3 on $1 are bound" "$out $(tail -n 5 "$WORK/loader-$1.log")"
}
servers_ms() { # etcd and kube-apiserver, where there are any
  local sum=0 at
  for at in "${servers[@]}"; do sum=$((sum + $(cpu_ms "$at"))); done
  echo $sum
}

# --- the same load on each
compare_load() {
  local scheduler mode at
  start_kubernetes_with_groups
  servers=("${started[@]}")
  "$LOADER" --kubeconfig "$KUBECONFIG" --nodes "$NODES" --creates 1 creates >/dev/null 2>&1
  for scheduler in kube muster; do
    start $scheduler $scheduler
    default_pod "warm-$scheduler"
    wait_bound "warm-$scheduler"
    for mode in pods gangs; do load $scheduler "$PID" $mode; done
    stop "$PID"
  done
  for mode in pods gangs; do
    note "$mode on kube-apiserver" pods/s "${rate[kube $mode]}" "${rate[muster $mode]}"
    note "$mode: CPU time of the scheduler per pod" µs "$((cpu[kube $mode] * 1000 / PODS))" "$((cpu[muster $mode] * 1000 / PODS))"
  done
  note "memory of the scheduler at most" MiB "$((memory[kube gangs] / 1024))" "$((memory[muster gangs] / 1024))"
  table "$NODES nodes, $PODS pods (gangs of 10)"
  for at in "${servers[@]}"; do kill -KILL "$at"; wait "$at" 2>/dev/null; done
  servers=()
  start_muster --data-dir "$WORK/data" --zones 1 --blocks-per-zone 1 --racks-per-block 10 --nodes-per-rack $((NODES / 10)) \
    --node-resources cpu=32,memory=256Gi
  sleep 3
  for mode in pods gangs; do
    load up "$MUSTER_PID" $mode
    note "$mode end to end, against muster up" pods/s "${rate[kube $mode]}" "${rate[up $mode]}"
    note "$mode: CPU time of all servers per pod" µs "$((stack[kube $mode] * 1000 / PODS))" "$((stack[up $mode] * 1000 / PODS))"
  done
  stop_muster
  table "the same with all servers"
}

# --- a full cluster
raw() { # PATH: its list, from the server's cache
  curl -sk -H "Authorization: Bearer admin-token" "https://127.0.0.1:$API_PORT$1?resourceVersion=0" -o /dev/null
}
compare_full() {
  local scheduler since lists explained
  declare -A first peak spent
  servers=()
  start_kubernetes_with_groups
  "$LOADER" --kubeconfig "$KUBECONFIG" --nodes "$FULL_NODES" --creates "$FULL_PODS" --on-nodes creates >"$WORK/fill.log" 2>&1
  pass_or_fail $? "a cluster of $FULL_NODES nodes and $FULL_PODS pods" "$(tail -n 5 "$WORK/fill.log")"
  raw /api/v1/pods
  since=$(now_ms)
  raw /api/v1/nodes
  raw /api/v1/pods
  lists=$(($(now_ms) - since))
  for scheduler in kube muster; do
    default_pod "first-$scheduler"
    since=$(now_ms)
    start $scheduler "start-$scheduler"
    wait_bound "first-$scheduler"
    first[$scheduler]=$(($(now_ms) - since))
    spent[$scheduler]=$(cpu_ms "$PID")
    sleep 2
    peak[$scheduler]=$(memory_kib "$PID" VmHWM)
    stop "$PID"
  done
  note "from the start to the first decision" ms "${first[kube]}" "${first[muster]}"
  note "the same, in raw lists of $lists ms" times "$(awk "BEGIN {print ${first[kube]} / $lists}")" "$(awk "BEGIN {print ${first[muster]} / $lists}")"
  note "CPU time of the scheduler until then" ms "${spent[kube]}" "${spent[muster]}"
  note "memory of the scheduler at most" MiB "$((peak[kube] / 1024))" "$((peak[muster] / 1024))"
  pod huge 99 | k create -f - >/dev/null
  since=$(now_ms)
  expect "muster explain answers" "Insufficient cpu" "$MUSTER" explain pod huge --kubeconfig "$KUBECONFIG"
  explained=$(($(now_ms) - since))
  table "$FULL_NODES nodes, $FULL_PODS pods that run"
  echo "muster explain of a pod there: $explained ms"
}

for part in $PARTS; do "compare_$part"; done
[ -n "${KEEP:-}" ] && cp "$WORK"/*.log "$KEEP"
exit 0
