#!/usr/bin/env bash
# `muster doctor` on a real kube-apiserver: what is served, what is missing, which rights.
. "$(dirname "$0")/lib.sh"

start_kubernetes
k create serviceaccount poor >/dev/null
write_kubeconfig "$WORK/poor.kubeconfig" "$(k create token poor)"
expect "with the rights of docs/deploy nothing is missing" "may do all that a scheduler does" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG"
expect "without group APIs it says what that costs" "podgroups                    not served: no gangs" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG"
expect "a user without rights reads what does not work" \
  "create pods/binding                                  nothing is scheduled" \
  "$MUSTER" doctor --kubeconfig "$WORK/poor.kubeconfig"
"$MUSTER" doctor --kubeconfig "$WORK/poor.kubeconfig" >/dev/null 2>&1
[ $? -eq 2 ]
pass_or_fail $? "and the exit code says so" "not 2"
