#!/usr/bin/env bash
# Gangs are bound whole or not at all, also when the server is killed while it binds hundreds of them.
. "$(dirname "$0")/lib.sh"
command -v curl >/dev/null || skip "no curl on PATH"

rounds=3 gangs=40 size=4
[ -n "${MUSTER_TEST_LONG:-}" ] && rounds=22
echo "rounds: $rounds (22 with MUSTER_TEST_LONG)"
# Room for three quarters of all gangs, so that the last rounds work on a full cluster.
slots=$((rounds * gangs * size * 3 / 4 / 8 / size * size)) # per node, a multiple of a gang
cluster=(--data-dir "$WORK/data" --racks-per-block 2 --nodes-per-rack 4
  --node-resources "cpu=$slots,memory=64Gi,pods=5000")

post_all() { # FILE: posts what a curl configuration says, over one connection, until the server dies
  curl --silent --fail-early --config "$1" 2>/dev/null
}
credentials() {
  for item in certificate-authority-data:ca.crt client-certificate-data:client.crt client-key-data:client.key; do
    sed -n "s/^ *${item%%:*}: *//p" "$KUBECONFIG" | base64 -d >"$WORK/${item##*:}"
  done
  server=$(sed -n 's/^ *server: *//p' "$KUBECONFIG" | tr -d '"')
}
entry() { # PATH BODY: one request of a curl configuration
  printf 'next\nurl = "%s%s"\ncacert = "%s"\ncert = "%s"\nkey = "%s"\noutput = /dev/null\n' "$server" "$1" \
    "$WORK/ca.crt" "$WORK/client.crt" "$WORK/client.key"
  printf 'header = "Content-Type: application/json"\ndata = "%s"\n' "${2//\"/\\\"}"
}
write_gang() { # NAME: groups and pods come in any order
  local group='{"metadata":{"name":"'$1'"},"spec":{"schedulingPolicy":{"gang":{"minCount":'$size'}}}}' i
  ((RANDOM % 2)) && entry /apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups "$group" && group=
  for i in $(seq "$size"); do
    entry /api/v1/namespaces/default/pods '{"metadata":{"name":"'"$1-$i"'"},"spec":{"schedulingGroup":{"podGroupName":"'"$1"'"},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}'
  done
  [ -n "$group" ] && entry /apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups "$group"
}
write_round() { # ROUND HALF
  local g
  for g in $(seq "$2" 2 "$gangs"); do write_gang "g$1-$g"; done
}

# One list is one moment. Partly bound gangs and overcommitted nodes, one per line; nothing if all is well.
wrongs() {
  "$KUBECTL" get pods --no-headers -o custom-columns=G:.spec.schedulingGroup.podGroupName,N:.spec.nodeName 2>/dev/null |
    awk -v size="$size" -v slots="$slots" '
      $2 != "<none>" { bound[$1]++; used[$2]++ }
      END {
        for (g in bound) if (bound[g] != size) print "gang " g ": " bound[g] " of " size " bound"
        for (n in used) if (used[n] > slots) print "node " n ": " used[n] " of " slots " slots used"
      }'
}
whole() { # how many gangs are bound
  "$KUBECTL" get pods --no-headers -o custom-columns=G:.spec.schedulingGroup.podGroupName,N:.spec.nodeName |
    awk '$2 != "<none>" { bound[$1] = 1 } END { n = 0; for (g in bound) n++; print n }'
}

start_muster "${cluster[@]}"
eventually "nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
killed_busy=0
for round in $(seq "$rounds"); do
  credentials
  for half in 1 2; do
    write_round "$round" "$half" | sed 1d >"$WORK/writes-$half"
    post_all "$WORK/writes-$half" &
  done
  sleep "0.$((RANDOM % 9))$((RANDOM % 10))"
  stop_muster -KILL >/dev/null 2>&1
  wait
  start_muster "${cluster[@]}"
  found=""
  for _ in 1 2 3; do found+=$(wrongs); done
  pass_or_fail "$([ -z "$found" ]; echo $?)" "round $round: no gang in part, no node overcommitted" "$found"
  [ "$("$KUBECTL" get pods --no-headers 2>/dev/null | wc -l)" -lt $((round * gangs * size)) ] && killed_busy=$((killed_busy + 1))
  # What the crash kept from being created comes now.
  credentials
  for half in 1 2; do
    sed -i "s#https://[^/]*#$server#" "$WORK/writes-$half"
    post_all "$WORK/writes-$half"
  done
done
pass_or_fail "$([ "$killed_busy" -gt 0 ]; echo $?)" "the server was killed in the middle of work ($killed_busy of $rounds)" ""
fit=$((slots * 8 / size))
eventually "all gangs that fit are bound" "$fit" whole
found=$(wrongs)
pass_or_fail "$([ -z "$found" ]; echo $?)" "in the end no gang is bound in part, no node overcommitted" "$found"
expect "every gang is bound or waits" "$((rounds * gangs))" bash -c "$KUBECTL get podgroups --no-headers | wc -l"
