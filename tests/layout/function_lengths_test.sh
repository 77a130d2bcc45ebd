#!/usr/bin/env bash
# No function is longer than a screen or two: 80 lines from its head to the closing brace. In tests the rows of tables do
# not count (what initializes a variable, from `{` to `};`), but with them a test has at most 150 lines.
#
# No parser is needed, because the formatter puts the closing brace at the depth of the first line of what it closes: a
# block begins at the last line before its `}` that is as deep. Classes and tables end in `};`. Blocks of `if`, `for` and
# the like are measured too, but are shorter than the functions they stand in. Lines inside raw strings begin no block.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# too_long test|product FILE ...: prints the functions that are.
too_long() {
  local kind=$1
  shift
  awk -v kind="$kind" '
  function table_rows(since,    rows, i) {
    rows = 0
    for (i = 1; i <= tables; ++i) if (table_begin[i] > since) rows += table_end[i] - table_begin[i] + 1
    return rows
  }
  FNR == 1 { split("", last); split("", head); raw = ""; tables = 0 }
  {
    in_text = raw != ""
    rest = $0
    if (in_text) {
      if (index(rest, raw) == 0) next
      rest = substr(rest, index(rest, raw) + length(raw))
      raw = ""
    }
    while (match(rest, /R"[^ ()]*\(/)) {
      raw = ")" substr(rest, RSTART + 2, RLENGTH - 3) "\""
      rest = substr(rest, RSTART + RLENGTH)
      if (index(rest, raw) == 0) break
      rest = substr(rest, index(rest, raw) + length(raw))
      raw = ""
    }
    depth = match($0, /[^ ]/) - 1
  }
  in_text || depth < 0 || /^#/ { next }
  {
    text = substr($0, depth + 1)
    if (text ~ /^}( *\/\/.*)?$/ && depth in last) {
      lines = FNR - last[depth] + 1
      rows = kind == "test" ? table_rows(last[depth]) : 0
      if (lines - rows > 80 || lines > 150)
        print FILENAME ":" last[depth] ": " lines " lines" (rows > 0 ? ", " rows " of them in tables" : "")
      if (depth == 0) tables = 0
    } else if (text ~ /^};$/ && depth in last && head[depth] !~ /^(template|class|struct|union|enum) |\] [{]$|\]\(/) {
      while (tables > 0 && table_begin[tables] > last[depth]) --tables
      ++tables
      table_begin[tables] = last[depth]
      table_end[tables] = FNR
    }
    last[depth] = FNR
    head[depth] = text
  }' "$@"
}

# It sees what it is for: each of these has 81 lines.
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
of_lines() { yes "$1" | head -n "$2" || true; }
expect() {
  local kind=$1 want=$2
  cat >"$sample"
  [[ $(too_long "$kind" "$sample" | wc -l) == "$want" ]] && return
  printf 'function_lengths_test.sh: finds %s long functions, not %s, in\n' "$(too_long "$kind" "$sample" | wc -l)" "$want"
  cat "$sample"
  exit 1
}
expect product 1 <<<"A::A(int a,
     int b)
    : a_(a),
      b_{b} {
$(of_lines '  b();' 76)
}"
expect product 1 <<<"class A {
  struct B {
    struct C {
      void f() {
$(of_lines '        b();' 79)
      }
    };
  };
};"
expect product 0 <<<"class A {
$(of_lines '  int b;' 90)
};
void f() {
$(of_lines '  b();' 78)
}"
expect test 1 <<<"TEST(A, B) {
  const auto f = [] {
$(of_lines '    b();' 77)
  };
}"
expect product 1 <<<"void f() {
  g(R\"(
}
$(of_lines 'text' 75)
)\");
  b();
}"
expect test 0 <<<"TEST(A, B) {
  const Case cases[] = {
$(of_lines '      {1, 2},' 100)
  };
}"
expect test 1 <<<"TEST(A, B) {
  const Case cases[] = {
$(of_lines '      {1, 2},' 147)
  };
}"

product=() tests=()
while IFS= read -r file; do
  case $file in
    src/api/schema/tables_* | src/api/schema/descriptions_*) ;;  # one literal each
    tests/* | bench/* | *_test.cc | *_tests.cc | *_testing.h) tests+=("$file") ;;
    *) product+=("$file") ;;
  esac
done < <(find src tests bench -name '*.cc' -o -name '*.h' | sort)
found=$(too_long product "${product[@]}" && too_long test "${tests[@]}")
[[ ! $found ]] || { printf '%s\n' "$found"; exit 1; }
