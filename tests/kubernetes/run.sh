#!/usr/bin/env bash
# run.sh [--long] [TEST...]: runs the tests on a real Kubernetes; `./dev test-kubernetes` calls it. --long also puts the same load
# on both stacks and prints ratios (compare.sh). MUSTER names Muster's binary, KUBERNETES the one of this folder's Go module;
# without it that is built first.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/build.sh"
if [ -z "${KUBERNETES:-}" ]; then
  echo "Building kube-apiserver, etcd, kube-controller-manager and kube-scheduler (the first time: half an hour of a core, 4 GB)"
  build_kubernetes
fi
long=
[ "${1:-}" = --long ] && { long=yes; shift; }
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=("$here"/*_test.sh "$here/../conformance/kube_scheduler_test.sh")
[ "$long" ] && tests+=("$here/compare.sh")
failed=0
for test in "${tests[@]}"; do
  echo "=== $(basename "$test")"
  bash "$test" || failed=1
done
exit $failed
