#!/usr/bin/env bash
# The pictures of the documentation are made by a script from the real program, and look as they should.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || skip "no python3 on PATH"

expect "the script works" "" timeout 150 "$root/scripts/screens.py" "$MUSTER" "$WORK/screens"
for screen in gang explain map; do
  for folder in "$WORK/screens" "$root/docs/screens"; do
    expect "$screen.svg is well-formed" "svg" python3 -c \
      "import sys, xml.dom.minidom; print(xml.dom.minidom.parse(sys.argv[1]).documentElement.tagName)" "$folder/$screen.svg"
  done
done
expect "the gang is made" "podgroup.scheduling.k8s.io/train created" cat "$WORK/screens/gang.svg"
expect "and has its place" "z1-b1-r1-n1" cat "$WORK/screens/gang.svg"
expect "what waits is explained" "PodGroup default/wide is unschedulable" cat "$WORK/screens/explain.svg"
expect "the map has colours" "#61afef" cat "$WORK/screens/map.svg"
expect "and a legend" "compositepodgroup default/superslice" cat "$WORK/screens/map.svg"
