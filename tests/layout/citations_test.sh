#!/usr/bin/env bash
# Everything that a source, test or document refers to must be in the repository: pages and scenarios by path, and
# the headings of docs/kubernetes-behaviour.md by anchor, rooms and their front doors. A reader has nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly DIGEST=docs/kubernetes-behaviour.md

bad=0
complain() {
  printf '%s\n' "$1"
  bad=1
}
files=(src tests bench scripts cmake dev)
documents=(docs README.md ARCHITECTURE.md bench tests)

# Pages by name, `like/this.md`, in comments; relative to the root, to docs/ or to the file.
while IFS=: read -r file line text; do
  for page in $(grep -oE '[A-Za-z0-9_./-]+\.md\b' <<<"$text"); do
    [[ -e $page || -e ${file%/*}/$page || -e docs/$page ]] || complain "$file:$line: there is no page $page"
  done
done < <(grep -rnE --include='*.h' --include='*.cc' --include='*.cmake' --include='*.txt' \
  '(//|^ *#).*[A-Za-z0-9_-]\.md\b' "${files[@]}" | grep -v '^tests/fuzz/' || true)

# Links of documents, relative to the document.
while IFS=: read -r file line link; do
  link=${link#']('} link=${link%')'} link=${link%%#*}
  [[ ! $link || $link == http* || -e ${file%/*}/$link || ($file != */* && -e $link) ]] ||
    complain "$file:$line: the link $link leads nowhere"
done < <(grep -rnoE --include='*.md' '\]\([^) ]+\)' "${documents[@]}" | sort -u)

# Anchors of the digest, as GitHub makes them of headings.
anchors=$(sed -nE 's/^#+ +//p' "$DIGEST" | tr 'A-Z' 'a-z' | sed -E 's/[^a-z0-9 -]//g; s/ /-/g')
while IFS= read -r anchor; do
  grep -qxF "$anchor" <<<"$anchors" || complain "$DIGEST has no heading #$anchor, which something cites"
done < <({
  grep -rhoE "kubernetes-behaviour\.md#[a-z0-9-]+" src tests bench docs README.md ARCHITECTURE.md
  grep -oE '\]\(#[a-z0-9-]+\)' "$DIGEST" | tr -d ']()'
} | sed 's/.*#//' | sort -u)

# Tests and scenarios that the digest names.
while IFS=. read -r suite name; do
  grep -rqE --include='*_test.cc' "\($suite, *$name\)" src tests || complain "$DIGEST names test $suite.$name, which is not there"
done < <(grep -oE 'test `[A-Za-z]+\.[A-Za-z0-9]+`' "$DIGEST" | sed 's/test //' | tr -d '`' | sort -u)
while IFS= read -r name; do
  [[ -f tests/scenarios/$name.txt ]] || complain "$DIGEST names scenario $name, which is not there"
done < <(grep -oE '`(L[0-9]{2}_|a_gang_)[a-z0-9_]+`' "$DIGEST" | tr -d '`' | sort -u)

# Pages by other words: numbered decisions and sections of something that is not here. RFCs and KEPs are public.
while IFS= read -r hit; do
  [[ $hit =~ RFC|KEP-|ISO ]] || complain "$hit: cites a section or decision that is not in the repository"
done < <(grep -rnE --include='*.h' --include='*.cc' --include='*.sh' --include='*.cmake' --include='*.txt' --include=dev \
  '\b[Dd]esign D[0-9]+|\b[Ss]ections? [0-9]|(^|[^a-z_/])reference/[a-z]' "${files[@]}" |
  grep -v -e '^tests/fuzz/' -e '^tests/layout/citations_test.sh' || true)

# ARCHITECTURE.md lists every room, with front doors that exist.
listed=' '
while IFS='|' read -r _ room _ doors _; do
  room=$(tr -d ' `' <<<"$room")
  listed+="$room "
  [[ -d src/$room ]] || complain "ARCHITECTURE.md: there is no room $room"
  for door in $(tr -d '`,' <<<"$doors"); do
    [[ -f src/$room/$door ]] || complain "ARCHITECTURE.md: $room has no front door $door"
  done
done < <(sed -n '/^## Rooms/,/^## /p' ARCHITECTURE.md | grep -E '^\| `')
while IFS= read -r room; do
  [[ $room == *testing* || $listed == *" $room "* ]] || complain "ARCHITECTURE.md does not list the room $room"
done < <(grep -rl --include=CMakeLists.txt 'muster_module(' src | sed 's|^src/||; s|/CMakeLists.txt$||')

exit "$bad"
