#!/usr/bin/env bash
# large_seeds.sh TARGET FOLDER: writes inputs of some 40 kB with much of one thing. libFuzzer makes nothing
# longer than its longest seed for a long time, and what takes the square of its length shows only there.
set -euo pipefail
target=$1 folder=$2

# repeat COUNT FORMAT: the format again and again, each time with the next number.
repeat() { for ((i = 0; i < $1; ++i)); do printf -- "$2" "$i"; done; }
seed() { cat >"$folder/$1"; }

pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"'
containers='"containers":[{"name":"c","image":"i"}]'
case $target in
  json)
    { printf '%s,"labels":{' "$pod"; repeat 2000 '"label-%d":"x",'; printf '"z":"x"}},"spec":{%s}}' "$containers"; } | seed labels
    { printf '%s},"spec":{%s,"tolerations":[' "$pod" "$containers"; repeat 1200 '{"key":"k%d","operator":"Exists"},'
      printf '{"operator":"Exists"}]}}'; } | seed tolerations
    repeat 6000 '{"a":' | seed nested
    ;;
  apply)
    for list in finalizers labels; do
      { printf '%s}}\0%s,' "$pod" "$pod"
        if [[ $list == labels ]]; then
          printf '"labels":{'; repeat 2000 '"label-%d":"x",'; printf '"z":"x"}}}'
        else
          printf '"finalizers":['; repeat 1500 '"example.com/%d",'; printf '"a/b"]}}'
        fi; } | seed "$list"
    done
    { printf '%s}}\0%s},"spec":{"containers":[' "$pod" "$pod"; repeat 900 '{"name":"c%d","image":"i"},'
      printf '{"name":"z"}]}}'; } | seed containers
    ;;
  yaml)
    { printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels:\n'; repeat 2000 '    label-%d: x\n'; } | seed labels
    repeat 4000 '- a\n' | seed list
    repeat 2500 'a: 1\n---\n' | seed several
    ;;
  protobuf)
    # The metadata of a Pod (field 1, its length in three bytes) has 3000 labels (field 11: a key and a value).
    { printf '\n'; printf "\\x$(printf %x $((39000 & 127 | 128)))\\x$(printf %x $((39000 >> 7 & 127 | 128)))\\x02"
      for ((i = 1000; i < 4000; ++i)); do printf 'Z\x0b\n\x04%d\x12\x03abc' "$i"; done; } | seed labels
    ;;
  patch)
    { printf '{"a":["x"]}\0['; repeat 900 '{"op":"add","path":"/a/0","value":%d},'; printf '{"op":"remove","path":"/a/0"}]'; } | seed additions
    { printf '{"spec":{"containers":['; repeat 700 '{"name":"c%d","image":"i"},'; printf '{"name":"z"}]}}\0{"spec":{"containers":['
      repeat 700 '{"name":"c%d","image":"j"},'; printf '{"name":"z"}]}}'; } | seed containers
    { printf '{}\0{'; repeat 3000 '"k%d":null,'; printf '"z":1}'; } | seed nulls
    ;;
  selector)
    { printf 'a in ('; repeat 6000 'v%d,'; printf 'z)'; } | seed values
    { repeat 3000 'key-%d=x,'; printf 'z=x'; } | seed terms
    { repeat 12000 '%d,'; printf '5 * * * *'; } | seed minutes
    ;;
  route)
    { printf '\0/api/v1/pods?labelSelector='; repeat 3000 'key-%d%%3Dx%%2C'; printf 'z\0*/*\0\0'; } | seed selector
    { printf '\0/api/v1/pods?'; repeat 3000 'k%d=x&'; printf 'limit=1\0*/*\0\0'; } | seed query
    { printf '\0/api/v1/pods\0'; repeat 1500 'application/json;q=0.5;v=%d,'; printf '*/*\0\0'; } | seed accept
    ;;
  http1)
    { printf 'zGET / HTTP/1.1\r\nHost: h\r\n'; repeat 2000 'Accept: a/%d\r\n'; printf '\r\n'; } | seed headers
    { printf 'zPOST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n'; repeat 6000 '1\r\nx\r\n'; printf '0\r\n\r\n'; } | seed chunks
    { printf 'z'; repeat 1200 'GET /%d HTTP/1.1\r\nHost: h\r\n\r\n'; } | seed requests
    ;;
  http2)
    repeat 1800 'impersonate-group\0group-%d\0' | seed groups
    repeat 1500 'impersonate-extra-k%d\0x\0' | seed extra
    repeat 2500 'accept\0a/%d\0' | seed accept
    ;;
  token)
    { printf '{"iss":"i","sub":"system:serviceaccount:n:a","iat":1,"exp":4000000000,"kubernetes.io":{"namespace":"n","serviceaccount":{"name":"a","uid":"u"}},"aud":['
      repeat 1000 '"a%d",'; printf '"z"]}'; } | seed audiences
    repeat 10000 'e30.' | seed dots
    ;;
  page)
    { printf '{"v":"meta.k8s.io/v1","rv":1,"start":"'; repeat 8000 '%d'; printf '"}'; } | seed start
    ;;
esac
