#!/usr/bin/env bash
# `muster doctor` on a real kube-apiserver: what is served, what is missing, which rights, and whose.
. "$(dirname "$0")/lib.sh"

start_kubernetes
k create serviceaccount poor >/dev/null
write_kubeconfig "$WORK/poor.kubeconfig" "$(k create token poor)"
expect "with the rights of docs/deploy nothing is missing" "may do all that a scheduler does" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG"
expect "without group APIs it says what that costs" "podgroups                    not served: no gangs" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG"
expect "with the flags that would serve them" "--runtime-config=$GROUP_API=true" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG"
expect "the scheduler's account may not read which gates are off" "reading them needs the right to get /metrics" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG"
off() { "$MUSTER" doctor --kubeconfig "$KUBECONFIG"; }
expect "the administrator is told" "Gates of its kube-apiserver that are off:" off
for gate in $(tr , '\n' <<<"${GROUP_FLAGS[1]}" | sed 's/=.*//'); do expect "also $gate" "  $gate " off; done
expect "the administrator asks for the scheduler's account" \
  "The user system:serviceaccount:kube-system:muster-scheduler may do all that a scheduler does" \
  "$MUSTER" doctor --kubeconfig "$KUBECONFIG" --as system:serviceaccount:kube-system:muster-scheduler
expect "which may not get every lease" "get leases.coordination.k8s.io kube-scheduler" \
  "$MUSTER" doctor --kubeconfig "$KUBECONFIG" --lease kube-scheduler --as system:serviceaccount:kube-system:muster-scheduler
expect "and for one without rights" "The user system:serviceaccount:default:poor may not" \
  "$MUSTER" doctor --kubeconfig "$KUBECONFIG" --as system:serviceaccount:default:poor
expect "who may not impersonate is told so" 'cannot impersonate' \
  "$MUSTER" doctor --kubeconfig "$WORK/poor.kubeconfig" --as admin
expect "looking into lost bindings is a right, too" "get pods " "$MUSTER" doctor --kubeconfig "$WORK/poor.kubeconfig"
expect "a user without rights reads what does not work" \
  "create pods/binding                                  nothing is scheduled" \
  "$MUSTER" doctor --kubeconfig "$WORK/poor.kubeconfig"
"$MUSTER" doctor --kubeconfig "$WORK/poor.kubeconfig" >/dev/null 2>&1
[ $? -eq 2 ]
pass_or_fail $? "and the exit code says so" "not 2"
