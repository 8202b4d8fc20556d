#!/usr/bin/env bash
# List the commits of a range, grouped by Conventional Commit prefix, as Markdown.
#
# Usage: bash collect_commits.sh [--path DIR] [FROM] [TO]
#   FROM  tag, branch or hash; default: the latest tag reachable from TO
#   TO    default: HEAD
#
# Only reads the repository. Exit codes: 0 fine, 2 range or repository unusable.
set -u

fail() {
  printf 'collect_commits: %s\n' "$1" >&2
  exit 2
}

usage() {
  sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//'
}

path=""
from=""
to=""
while [ "$#" -gt 0 ]; do
  case "$1" in
    -h | --help)
      usage
      exit 0
      ;;
    --path)
      [ "$#" -ge 2 ] || fail "--path needs a directory or file"
      path=$2
      shift 2
      ;;
    -*) fail "unknown option: $1 (see --help)" ;;
    *)
      if [ -z "$from" ]; then
        from=$1
      elif [ -z "$to" ]; then
        to=$1
      else
        fail "too many arguments: $1 (see --help)"
      fi
      shift
      ;;
  esac
done
[ -n "$to" ] || to=HEAD

command -v git >/dev/null 2>&1 || fail "git is not installed"
git rev-parse --git-dir >/dev/null 2>&1 || fail "not inside a git repository"

# Prints the commit a name stands for, or fails.
commit_of() {
  git rev-parse --verify --quiet "$1^{commit}"
}

commit_of "$to" >/dev/null || fail "no such commit: $to"
note=""
if [ -z "$from" ]; then
  from=$(git describe --tags --abbrev=0 "$to" 2>/dev/null || true)
  if [ -n "$from" ] && [ "$(commit_of "$from")" = "$(commit_of "$to")" ]; then
    # TO itself carries the tag: compare with the tag before it.
    from=$(git describe --tags --abbrev=0 "$to^" 2>/dev/null || true)
  fi
  [ -n "$from" ] || note="No earlier tag found: all commits up to $to are listed."
fi
if [ -n "$from" ]; then
  commit_of "$from" >/dev/null || fail "no such commit: $from"
  git merge-base --is-ancestor "$from" "$to" ||
    note="$from is not an ancestor of $to: the list shows what $to has and $from does not."
  range="$from..$to"
else
  range=$to
fi
if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = "true" ]; then
  note="${note:+$note }The clone is shallow: older commits may be missing."
fi

set --
if [ -n "$path" ]; then
  [ -e "$path" ] || note="${note:+$note }$path does not exist in the working tree (removed or mistyped?)."
  set -- "$path"
fi

printf '# Commits in %s%s\n\n' "$range" "${path:+, limited to $path}"
[ -z "$note" ] || printf 'Note: %s\n\n' "$note"
if [ -n "$from" ]; then
  stat=$(git diff --shortstat "$from...$to" -- "$@" 2>/dev/null)
  [ -z "$stat" ] || printf 'Size:%s\n\n' "$stat"
fi

git -c log.showSignature=false log --no-merges --no-color \
  --format='%h%x1f%H%x1f%s%x1f%b%x1e' "$range" -- "$@" |
  LC_ALL=C awk -v RS='\036' -v FS='\037' '
  function references(text,    found, item, seen) {
    found = ""
    while (match(text, /#[0-9]+|[A-Z][A-Z0-9]+-[0-9]+/)) {
      item = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      if (item ~ /^(UTF|SHA|ISO|RFC|CVE|CWE|MD|ES)-/ || item in seen) continue
      seen[item] = 1
      found = found (found == "" ? "" : ", ") item
    }
    return found
  }
  {
    sub(/^[\n]+/, "", $1)
    if ($1 == "") next
    count++
    short[count] = $1
    full[count] = $2
    subject[count] = $3
    refs[count] = references($3 " " $4)
    index_of[$2] = count

    kind = "unclassified"
    breaking = 0
    if (match($3, /^[A-Za-z]+(\([^)]*\))?!?: /)) {
      prefix = substr($3, 1, RLENGTH)
      breaking = prefix ~ /!: $/
      name = prefix
      sub(/[^A-Za-z].*$/, "", name)
      name = tolower(name)
      if ((" " known " ") ~ (" " name " ")) kind = name
    } else if ($3 ~ /^Revert "/) kind = "revert"
    if (("\n" $4) ~ /\nBREAKING[ -]CHANGE: /) breaking = 1
    type[count] = kind
    broken[count] = breaking
    if (match($4, /This reverts commit [0-9a-f]+/)) {
      target[count] = substr($4, RSTART + 20, RLENGTH - 20)
    }
  }
  function show(i) {
    printf "- %s %s%s\n", short[i], subject[i], (refs[i] == "" ? "" : " [" refs[i] "]")
  }
  END {
    if (!count) {
      print "No commits in this range."
      exit
    }
    # Newest first, so that a reverted revert leaves the original standing.
    for (i = 1; i <= count; i++) {
      if (!(i in target) || i in cancelled || !(target[i] in index_of)) continue
      cancelled[i] = 1
      cancelled[index_of[target[i]]] = 1
    }
    printf "%d commit%s without merges.\n", count, (count == 1 ? "" : "s")

    headed = 0
    for (i = 1; i <= count; i++) if (broken[i] && !(i in cancelled)) {
      if (!headed++) print "\n## Marked as breaking\n"
      show(i)
    }
    total = split(order, names, " ")
    for (n = 1; n <= total; n++) {
      headed = 0
      for (i = 1; i <= count; i++) if (type[i] == names[n] && !broken[i] && !(i in cancelled)) {
        if (!headed++) print "\n## " names[n] "\n"
        show(i)
      }
    }
    headed = 0
    for (i = 1; i <= count; i++) if (i in cancelled) {
      if (!headed++) print "\n## Reverted within the range (leave out)\n"
      show(i)
    }
  }
  ' known="feat fix perf refactor docs test build ci chore style revert" \
    order="feat fix perf revert unclassified docs refactor build ci test style chore"

status=("${PIPESTATUS[@]}")
[ "${status[0]}" -eq 0 ] || fail "git log failed"
[ "${status[1]}" -eq 0 ] || fail "the commits could not be grouped (awk failed)"
