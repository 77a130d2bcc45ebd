#!/usr/bin/env bash
# The image of docs/deploy/Dockerfile, built by buildah above a Debian of debootstrap's, as its user and with a read-only root: the
# command of docs/deploy/scheduler.yaml binds a pod from inside, with the token of its service account and nothing else.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "images are built as root here"
for tool in buildah debootstrap; do command -v $tool >/dev/null || skip "no $tool"; done
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
images() { buildah --root "$WORK/images" --runroot "$WORK/images-run" "$@"; }

# --- the base: Debian as its archive has it, kept beside the Kubernetes binaries
base=$(dirname "$KUBERNETES")/debian-12
if [ ! -e "$base.tar" ]; then
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' | head -n 1)
  rm -rf "$base"
  debootstrap --variant=minbase bookworm "$base" "$archive" >"$WORK/debootstrap.log" 2>&1 ||
    skip "debootstrap cannot reach Debian's archive: $(tail -n 1 "$WORK/debootstrap.log")"
  tar -C "$base" -cf "$base.part" . && mv "$base.part" "$base.tar"
  rm -rf "$base"
fi
container=$(images from scratch)
images add -q "$container" "$base.tar" / >/dev/null
images commit -q --rm "$container" docker.io/library/debian:12-slim >/dev/null
pass_or_fail $? "a Debian to build above" ""

# --- the recipe, as docs/deploy/README.md has it
install -Ds "$MUSTER" "$WORK/context/muster"
images bud -q -t muster -f "$ROOT/docs/deploy/Dockerfile" "$WORK/context" >"$WORK/build.log" 2>&1
pass_or_fail $? "the image is built" "$(tail -n 20 "$WORK/build.log")"
container=$(images from --pull-never muster)
image_user() { images inspect --format '{{.OCIv1.Config.User}}' "$container"; }
eventually "it does not run as root" 1 65532 image_user
expect "it knows its version" "$("$MUSTER" --version)" images run "$container" -- muster --version

# --- in a cluster
start_kubernetes_with_groups
make_node a-1 ra
k apply -f "$ROOT/docs/deploy/scheduler.yaml" >/dev/null
inside=$WORK/inside
mkdir -p "$inside/account" "$inside/config"
k create token muster-scheduler -n kube-system >"$inside/account/token"
cp "$WORK/pki/apiserver.crt" "$inside/account/ca.crt"
printf kube-system >"$inside/account/namespace"
k get configmap muster-scheduler -n kube-system -o 'jsonpath={.data.config\.yaml}' >"$inside/config/config.yaml"
read -ra command < <(k get deployment muster-scheduler -n kube-system \
  -o 'jsonpath={range .spec.template.spec.containers[0].command[*]}{@} {end}')
expect "the Deployment runs Muster" "muster scheduler" echo "${command[@]}"
run_in_background image buildah --root "$WORK/images" --runroot "$WORK/images-run" run --user 65532 \
  --env KUBERNETES_SERVICE_HOST=127.0.0.1 --env "KUBERNETES_SERVICE_PORT=$API_PORT" \
  -v "$inside/account:/var/run/secrets/kubernetes.io/serviceaccount:ro" -v "$inside/config:/etc/muster:ro" \
  "$container" -- "${command[@]}" --secure-port "$(free_port)"
pod hello | k create -f - >/dev/null
eventually "from inside, the scheduler binds a pod" 60 1 bound hello
leader() { k -n kube-system get lease muster-scheduler -o 'jsonpath={.spec.holderIdentity}' | grep -c _; }
eventually "as the leader" 10 1 leader
of_image() { grep -h '"username":"system:serviceaccount:kube-system:muster-scheduler"' "$WORK/audit.json" | grep -c 'pods/hello/binding'; }
eventually "by its service account" 10 1 of_image
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
