#!/usr/bin/env bash
# run.sh [--kubernetes 1.36] [--long] [TEST...]: runs the tests on a real Kubernetes; `./dev test-kubernetes` calls it. --long also
# puts the same load on both stacks and prints ratios (compare.sh). MUSTER names Muster's binary, KUBERNETES the one of this
# folder's Go module; without it that is built first.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/build.sh"
long=
while [ $# -gt 0 ]; do
  case $1 in
    --kubernetes)
      export KUBERNETES_VERSION=${2:?--kubernetes wants a version: 1.36 or 1.37}
      shift
      ;;
    --long) long=yes ;;
    *) break ;;
  esac
  shift
done
if [ -z "${KUBERNETES:-}" ]; then
  echo "Building kube-apiserver, etcd, kube-controller-manager and kube-scheduler (the first time: half an hour of a core, 4 GB)"
  build_kubernetes
fi
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=("$here"/*_test.sh "$here/../conformance/kube_scheduler_test.sh")
[ "$long" ] && tests+=("$here/compare.sh")
failed=0
for test in "${tests[@]}"; do
  echo "=== $(basename "$test")"
  bash "$test"
  case $? in 0 | 77) ;; *) failed=1 ;; esac
done
exit $failed
