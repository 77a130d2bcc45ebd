#!/usr/bin/env bash
# image_test.sh MUSTER: the recipe of the container image against the binary that it is for. Every library that the binary
# loads is in a package that the image installs, every file that it copies is made by `./dev build`, and the commands of
# the manifests are ones that the binary knows. Nothing is built.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
binary=$1
recipe=docs/deploy/Dockerfile
failed=0
complain() { echo "FAILED: $1"; failed=1; }

grep -q 'VERSION_ID="12"' /etc/os-release 2>/dev/null && command -v dpkg-query readelf >/dev/null ||
  { echo "skipped: the image is Debian 12, this machine is not"; exit 77; }

listed=$(sed -n '/^RUN apt-get/,/rm -rf/p' "$recipe" | tr -s ' \\' '\n' | grep -E '^(lib|zlib|tzdata|ca-)' | sort -u)
[ "$(wc -l <<<"$listed")" -gt 10 ] || complain "no packages were found in $recipe: is its form another one?"
# The base image has these; a build with sanitizers needs theirs beside them.
base='^(libc6|libgcc-s1|libstdc\+\+6|libasan[0-9]*|libubsan[0-9]*|libtsan[0-9]*)$'
paths=$(ldd "$binary" | awk '$3 ~ /^\// {print $1, $3}')
needed=
for library in $(readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'); do
  path=$(awk -v name="$library" '$1 == name {print $2}' <<<"$paths")
  [ -n "$path" ] || continue # the loader
  real=$(readlink -f "$path") # /lib may be a link to /usr/lib, and packages say either
  package=$(dpkg-query -S "$path" "$real" "${real#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1)
  [ -n "$package" ] || { complain "no package has $path"; continue; }
  [[ $package =~ $base ]] && continue
  needed+="$package"$'\n'
  grep -qx "$package" <<<"$listed" || complain "$library is in $package, which $recipe does not install"
done
[ "$(grep -c . <<<"$needed")" -gt 5 ] || complain "$binary needs hardly any library: is it the right one?"
for package in $listed; do
  dpkg-query -W "$package" >/dev/null 2>&1 || [[ $package == libmimalloc* ]] ||
    complain "$recipe installs $package, which Debian 12 with our packages does not have"
done

for source in $(sed -n 's/^COPY \([^ ]*\) .*/\1/p' "$recipe"); do
  grep -q "build/$source\$" dev || complain "$recipe copies $source, which ./dev build does not put into build/"
done
grep -q "docker build .* -f $recipe build\b" docs/deploy/README.md || complain "README.md does not build from the folder build/"

for manifest in docs/deploy/*.yaml; do
  for verb in $(sed -n 's/.*command: \[muster, \([a-z]*\),.*/\1/p' "$manifest"); do
    known=$("$binary" "$verb" --help 2>&1) || complain "$manifest runs muster $verb, which there is not"
    for flag in $(sed -n '/command: \[muster/,/\]/p' "$manifest" | grep -o -- '--[a-z-]*'); do
      grep -q -- "$flag\b" <<<"$known" || complain "$manifest gives muster $verb the flag $flag, which it does not know"
    done
  done
done
[ $failed -eq 0 ] && echo "the image holds what the binary needs"
exit $failed
