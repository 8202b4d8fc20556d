#!/bin/sh
# Starts Commonplace with Node 24 or newer: the one that NODE names, or else the first one in PATH.
set -fu

is_new_enough() {
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version#v}
  [ "${version%%.*}" -ge 24 ] 2>/dev/null
}

start() {
  exec "$node" "$here/../dist/cli/main.js" "$@"
}

case $0 in
  */*) here=${0%/*} ;;
  *) here=. ;;
esac
if [ -h "$0" ]; then
  file=$(readlink -f "$0") && here=${file%/*}
fi
# Hints name the program as it was started.
export COMMONPLACE_LAUNCHER="$0"

if [ -n "${NODE:-}" ]; then
  node=$NODE
  is_new_enough "$node" && start "$@"
  echo "Commonplace needs Node 24 or newer; NODE is $node, which is ${version:-no Node}. Set NODE to the path of a newer one." >&2
  exit 69
fi
found=
folders=${PATH:-}:
while [ -n "$folders" ]; do
  node=${folders%%:*}/node
  folders=${folders#*:}
  [ -f "$node" ] && [ -x "$node" ] || continue
  is_new_enough "$node" && start "$@"
  found=" $node is ${version:-no Node}."
done
echo "Commonplace needs Node 24 or newer, and there is none in PATH.$found Install it, or set NODE to its path." >&2
exit 69
