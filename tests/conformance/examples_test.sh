#!/usr/bin/env bash
# Every manifest of docs/examples does what its header promises, on the demo cluster of `./dev up`:
#
#   # Expect: pod hello Running                               its phase
#   # Expect: podgroup train Scheduled                        the reason of its condition
#   # Expect: 4 pods of podgroup train run [in one rack]      exactly so many
#   # Expect: all pods run in one block
#   # Expect: 4 pods of job train run [in one rack]           the same, of a Job
#   # Expect: 4 pods run in one rack                          the same, of all
#   # Expect: job train Complete                              a condition that is True
#   # Expect: deployment web Available                     the same, of a Deployment
#   # Expect: leaderworkerset llm Available              the same, of a LeaderWorkerSet
#   # Expect: no workloads
#   # Expect: explain podgroup wide says TEXT                 what `muster explain` prints
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples" && pwd)

start_muster --in-memory --zones 2 --racks-per-block 2 --nodes-per-rack 4 \
  --node-resources cpu=32,memory=128Gi,nvidia.com/gpu=8
eventually "all nodes are Ready" "16" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

# The nodes of the namespace's running pods, one per line; of one group or one Job if $1 is its name.
nodes_of() {
  k -n "$space" get pods --no-headers -o \
    'custom-columns=PHASE:.status.phase,GROUP:.spec.schedulingGroup.podGroupName,JOB:.metadata.labels.job-name,NODE:.spec.nodeName' |
    awk -v name="${1:-}" '$1 == "Running" && (name == "" || $2 == name || $3 == name) {print $4}'
}
# How many domains of a kind these nodes are in; nodes are named z1-b1-r1-n1.
domains() {
  case $1 in
    rack) cut -d- -f1-3 ;;
    block) cut -d- -f1-2 ;;
    zone) cut -d- -f1 ;;
  esac | sort -u | grep -c .
}
says() { # "4 running in 1 rack" of group or Job $1 ("" is all), in domains of kind $2 ("" is not asked)
  local nodes
  nodes=$(nodes_of "$1")
  printf '%s running' "$(grep -c . <<<"$nodes")"
  [ -n "$2" ] && printf ' in %s %s' "$(domains "$2" <<<"$nodes")" "$2"
  echo .
}
phase() { k -n "$space" get pod "$1" -o 'jsonpath={.status.phase}.'; }
reason() { # of a group: what the scheduler says of it
  local type=PodGroupInitiallyScheduled
  [ "$1" = compositepodgroup ] && type=Composite$type
  k -n "$space" get "$1" "$2" -o "jsonpath={.status.conditions[?(@.type==\"$type\")].reason}."
}
true_conditions() { k -n "$space" get "$1" "$2" -o 'jsonpath={range .status.conditions[?(@.status=="True")]}{.type}.{end}'; }
explain() { timeout 60 "$MUSTER" explain "$@" -n "$space" 2>&1; }

promise() { # one line after "# Expect: "
  local words
  read -ra words <<<"$1"
  case $1 in
    "explain "*" says "*) eventually "$1" "${1#* says }" explain "${words[1]}" "${words[2]}" ;;
    "all pods run in one "*)
      eventually "$1" "$(k -n "$space" get pods --no-headers | grep -c .) running in 1 ${words[5]}." says "" "${words[5]}" ;;
    [0-9]*" pods of podgroup "*" run in one "* | [0-9]*" pods of job "*" run in one "*)
      eventually "$1" "${words[0]} running in 1 ${words[8]}." says "${words[4]}" "${words[8]}" ;;
    [0-9]*" pods of podgroup "*" run" | [0-9]*" pods of job "*" run") eventually "$1" "${words[0]} running." says "${words[4]}" "" ;;
    [0-9]*" pods run in one "*) eventually "$1" "${words[0]} running in 1 ${words[5]}." says "" "${words[5]}" ;;
    "pod "*) eventually "$1" "${words[2]}." phase "${words[1]}" ;;
    "deployment "* | "leaderworkerset "*) eventually "$1" "${words[2]}." true_conditions "${words[0]}" "${words[1]}" ;;
    "job "*) eventually "$1" "${words[2]}." true_conditions job "${words[1]}" ;;
    "no "*) expect "$1" "No resources found" k -n "$space" get "${words[1]}" ;;
    "podgroup "* | "compositepodgroup "*)
      eventually "$1" "${words[2]}." reason "${words[0]}" "${words[1]}" ;;
    *) pass_or_fail 1 "a promise nobody can check: $1" "see the top of this script" ;;
  esac
}

for file in "$examples"/*.yaml; do
  space=$(basename "$file" .yaml)
  echo "--- $space"
  k create namespace "$space" >/dev/null
  expect_not "it applies without an error" "rror" k -n "$space" apply -f "$file"
  promises=$(sed -n 's/^# Expect: //p' "$file")
  [ -n "$promises" ] || pass_or_fail 1 "it promises something" "add a line '# Expect: …' to $file"
  while read -r line; do promise "$line"; done <<<"$promises"
  k delete namespace "$space" --wait=false >/dev/null
  k -n "$space" delete pods --all --grace-period=0 --force >/dev/null
  eventually "its pods go" "No resources" k -n "$space" get pods
done
