#!/usr/bin/env bash
# What was acknowledged survives kill -9, and a second start goes on where the first ended.
. "$(dirname "$0")/lib.sh"

data=$WORK/data
cluster=(--data-dir "$data" --nodes-per-rack 4 --node-resources cpu=64,memory=64Gi,pods=500)
rounds=3
[ -n "${MUSTER_TEST_LONG:-}" ] && rounds=20
echo "rounds: $rounds (20 with --long)"

start_muster "${cluster[@]}"
eventually "nodes are Ready" "4" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
acknowledged=0
for round in $(seq "$rounds"); do
  # A writer creates pods one after the other and notes each acknowledged one, until the server dies.
  (
    i=0
    while "$KUBECTL" run "r$round-$i" --image=app --restart=Never >/dev/null 2>&1; do
      echo "r$round-$i" >>"$WORK/acknowledged"
      i=$((i + 1))
    done
  ) &
  writer=$!
  sleep "$((1 + round % 3)).$((RANDOM % 10))"
  stop_muster -KILL >/dev/null 2>&1
  wait $writer
  start_muster "${cluster[@]}"
  "$KUBECTL" get pods --no-headers -o custom-columns=NAME:.metadata.name | sort >"$WORK/found"
  touch "$WORK/acknowledged"
  lost=$(sort "$WORK/acknowledged" | comm -23 - "$WORK/found")
  pass_or_fail "$([ -z "$lost" ]; echo $?)" "round $round: no acknowledged pod is lost" "$lost"
  acknowledged=$(wc -l <"$WORK/acknowledged")
done
pass_or_fail "$([ "$acknowledged" -gt 0 ]; echo $?)" "pods were acknowledged in between ($acknowledged)" ""
eventually "all of them run" "$(wc -l <"$WORK/found")" bash -c "$KUBECTL get pods --no-headers | grep -cw Running"
twice=$("$KUBECTL" get pods -o 'jsonpath={range .items[*]}{.status.podIP}{"\n"}{end}' | sort | uniq -d)
pass_or_fail "$([ -z "$twice" ]; echo $?)" "no address is given to two pods" "$twice"
"$KUBECTL" get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.status.addresses[0].address}{"\n"}{end}' | sort >"$WORK/nodes"
"$KUBECTL" get pods -o 'jsonpath={range .items[*]}{.spec.nodeName} {.status.hostIP}{"\n"}{end}' | sort -u >"$WORK/hosts"
pass_or_fail "$(comm -13 "$WORK/nodes" "$WORK/hosts" | grep -q .; [ $? -eq 1 ]; echo $?)" "pods tell their node's address" "$(comm -13 "$WORK/nodes" "$WORK/hosts")"
expect "the nodes are the ones from before" "4" bash -c "$KUBECTL get nodes --no-headers | wc -l"

out=$("$MUSTER" up --data-dir "$data" --listen 127.0.0.1:0 2>&1 </dev/null)
case $out in
  *"in use by another muster"*) pass_or_fail 0 "a data directory belongs to one at a time" "" ;;
  *) pass_or_fail 1 "a data directory belongs to one at a time" "$out" ;;
esac
stop_muster -TERM
pass_or_fail $? "SIGTERM stops it cleanly" "$(cat "$WORK/muster.err")"

# Also in the first moment, while components still create nodes and default objects.
for delay in 0 0 0.01 0.03; do
  start_muster "${cluster[@]}"
  sleep "$delay"
  stop_muster -TERM
  pass_or_fail $? "SIGTERM $delay s after the start" "$(cat "$WORK/muster.err")"
done
