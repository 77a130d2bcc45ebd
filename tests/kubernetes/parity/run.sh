#!/usr/bin/env bash
# run.sh [flags of parity.py]: the same requests to a real kube-apiserver and to Muster, without controllers in either, with the
# gates of groups on in both and then with GenericWorkload alone. Prints each difference that allowed.lit does not explain.
# KUBERNETES is the binary of tests/kubernetes, MUSTER Muster's. README.md says what is known to differ.
. "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
others=TopologyAwareWorkloadScheduling,CompositePodGroup,WorkloadWithJob,PodGroupPreemptionPolicy,DRAWorkloadResourceClaims

# serve GATES: both servers. The real one is started again with the admission of service accounts, which other tests do without.
serve() {
  KUBECONFIG=$WORK/real.kubeconfig
  start_kubernetes --feature-gates "$1" --runtime-config scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true
  kill "$LAST"
  wait "$LAST" 2>/dev/null
  local command=() word
  for word in "${SERVER_COMMAND[@]}"; do
    [ "$word" = --disable-admission-plugins ] || [ "$word" = ServiceAccount ] || command+=("$word")
  done
  run_in_background apiserver "${command[@]}"
  eventually "kube-apiserver is ready" 120 ok ready
  eventually "and has made its priority classes" 60 2 classes
  k config view --raw --minify -o json >"$WORK/real.json"
  KUBECONFIG=$WORK/muster.kubeconfig
  start_muster --in-memory --controllers namespace-defaults --feature-gates "$1"
  k config view --raw --minify -o json >"$WORK/muster.json"
}
ready() { "$KUBECTL" get --raw /readyz 2>&1; }
classes() { k get priorityclasses -o name | grep -c system-; }

compare() { # WHAT FLAGS...
  local what=$1 code
  shift
  python3 "$here/parity.py" --real "$WORK/real.json" --muster "$WORK/muster.json" "$@" >"$WORK/differences" 2>&1
  code=$?
  pass_or_fail $code "$what: $(tail -n 1 "$WORK/differences")" "$(cat "$WORK/differences")"
  [ $code -ne 0 ] || cat "$WORK/differences"
}

serve "GenericWorkload=true,${others//,/=true,}=true"
compare "with the gates of groups" "$@"
stop_muster
stop_kubernetes >/dev/null
started=()
rm -rf "$WORK/etcd"
serve "GenericWorkload=true,${others//,/=false,}=false"
compare "with GenericWorkload alone" --cases cases_few_gates "$@"
