#!/usr/bin/env bash
# No function of the product is longer than a screen or two: 80 lines from its brace to the closing one, at the
# margin or inside a class. The formatter puts both braces at the same depth, so no parser is needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

find src -name '*.cc' -o -name '*.h' | grep -v '_test\.cc$' | sort | xargs awk '
  FNR == 1 { split("", since); open = "" }
  {
    depth = match($0, /[^ ]/) - 1
    text = substr($0, depth + 1)
  }
  # A head of several lines: its brace ends the first continued line that has one.
  depth > 2 && open != "" && text ~ /\{$/ { since[open] = FNR; open = "" }
  depth > 2 { next }
  { open = text ~ /[(,]$/ ? depth : "" }
  text ~ /^(namespace|class|struct|enum|union|extern|switch|if|for|while) / { delete since[depth]; next }
  text ~ /\{$/ && text !~ /^}/ && text ~ /\)/ { since[depth] = FNR }
  text ~ /^}/ && depth in since {
    lines = FNR - since[depth] + 1
    if (lines > 80) { print FILENAME ":" since[depth] ": " lines " lines"; bad = 1 }
    delete since[depth]
  }
  END { exit bad }'
