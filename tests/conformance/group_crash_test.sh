#!/usr/bin/env bash
# Gangs are bound whole or not at all, also when the server is killed while it binds hundreds of them.
. "$(dirname "$0")/lib.sh"
command -v curl >/dev/null || skip "no curl on PATH"

rounds=3 gangs=36 size=4 big=450 # each round: many small gangs, and one that is prepared in several slices
[ -n "${MUSTER_TEST_LONG:-}" ] && rounds=22
echo "rounds: $rounds (22 with MUSTER_TEST_LONG)"
slots=$(((rounds * (gangs * size + big) + 7) / 8)) # per node: in the end the cluster is full
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
write_pods() { # GANG SIZE
  local i
  for i in $(seq "$2"); do
    entry /api/v1/namespaces/default/pods '{"metadata":{"name":"'"$1-$i"'"},"spec":{"schedulingGroup":{"podGroupName":"'"$1"'"},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}'
  done
}
write_group() { # GANG SIZE
  entry /apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups '{"metadata":{"name":"'"$1"'"},"spec":{"schedulingPolicy":{"gang":{"minCount":'"$2"'}}}}'
}
write_small() { # ROUND HALF: pods and groups in any order
  local g
  for g in $(seq "$2" 2 "$gangs"); do
    ((g % 3)) || write_group "g$1-$g" "$size"
    write_pods "g$1-$g" "$size"
    ((g % 3)) && write_group "g$1-$g" "$size"
  done
}
# Every pod's gang, node and the second it was bound. One list is one moment.
moment() {
  "$KUBECTL" get pods --no-headers \
    -o 'custom-columns=G:.spec.schedulingGroup.podGroupName,N:.spec.nodeName,T:.status.conditions[?(@.type=="PodScheduled")].lastTransitionTime'
}
# Gangs that are bound in part, gangs that were completed only after the crash and overcommitted nodes, one per line;
# nothing if all is well.
wrongs() {
  moment 2>/dev/null | awk -v small="$size" -v big="$big" -v slots="$slots" '
      $2 != "<none>" { bound[$1]++; used[$2]++; if (!($1 in at)) at[$1] = $3; if (at[$1] != $3) later[$1] = $3 }
      END {
        for (g in bound) if (bound[g] != (size = g ~ /-big$/ ? big : small)) print "gang " g ": " bound[g] " of " size " bound"
        for (g in later) print "gang " g ": bound at " at[g] " and at " later[g]
        for (n in used) if (used[n] > slots) print "node " n ": " used[n] " of " slots " slots used"
      }'
}
whole() { # how many gangs are bound
  moment | awk '$2 != "<none>" { bound[$1] = 1 } END { n = 0; for (g in bound) n++; print n }'
}

start_muster "${cluster[@]}"
eventually "nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
killed_busy=0
for round in $(seq "$rounds"); do
  credentials
  for half in 1 2; do write_small "$round" "$half" | sed 1d >"$WORK/small-$half"; done
  write_pods "g$round-big" "$big" | sed 1d >"$WORK/pods-big"
  write_group "g$round-big" "$big" | sed 1d >"$WORK/group-big"
  post_all "$WORK/pods-big"
  post_all "$WORK/small-1" &
  post_all "$WORK/small-2" &
  post_all "$WORK/group-big"
  sleep "0.0$((RANDOM % 10))"
  stop_muster -KILL >/dev/null 2>&1
  wait
  sleep 1 # what is bound from here on shows by its time
  start_muster "${cluster[@]}"
  found=$(for _ in 1 2 3; do wrongs; done)
  pass_or_fail "$([ -z "$found" ]; echo $?)" "round $round: no gang in part, no node overcommitted" "$found"
  [ "$("$KUBECTL" get podgroups --no-headers 2>/dev/null | wc -l)" -lt $((round * (gangs + 1))) ] && killed_busy=$((killed_busy + 1))
  # What the crash kept from being created comes now.
  credentials
  sed -i "s#https://[^/]*#$server#" "$WORK"/small-? "$WORK"/*-big
  for file in "$WORK"/small-? "$WORK"/*-big; do post_all "$file"; done
done
pass_or_fail "$([ "$killed_busy" -gt 0 ]; echo $?)" "the server was killed in the middle of work ($killed_busy of $rounds)" ""
all=$((rounds * (gangs + 1)))
eventually "all gangs are bound, the cluster is full" "$all" whole
found=$(wrongs)
pass_or_fail "$([ -z "$found" ]; echo $?)" "in the end no gang is bound in part, no node overcommitted" "$found"
