#!/bin/bash
# Runs several tasks at the same time, each in a git worktree of its own: a short way to the recipe
# parallel-workstreams. The exit code is that of the run: 0 only if every workstream succeeded.
set -eu

if [ $# -ne 1 ]; then
  cat >&2 <<'USAGE'
usage: multitask-orchestrator.sh FILE

FILE holds a JSON array of {"task": "…"}, each perhaps with "name", "branch" and "task_type"
(Development or Investigation). It starts from the git checkout in the current directory.

MULTITASK_KEEP       which worktrees stay: failed (default), always or never
MULTITASK_PARALLEL   how many run at once (3)
AMPLIHACK            the program, if it is not amplihack on the PATH
USAGE
  exit 2
fi
[ -f "$1" ] || { printf 'multitask-orchestrator.sh: there is no file %s\n' "$1" >&2; exit 3; }

self=$0
while [ -L "$self" ]; do
  link=$(readlink -- "$self")
  case "$link" in /*) self=$link ;; *) self=$(dirname -- "$self")/$link ;; esac
done
recipes=$(cd -- "$(dirname -- "$self")/../recipes" && pwd -P)
exec "${AMPLIHACK:-amplihack}" recipe run "$recipes/parallel-workstreams.yaml" --set-file workstreams="$1" \
  --set keep_worktrees="${MULTITASK_KEEP:-failed}" --set max_parallel="${MULTITASK_PARALLEL:-3}"
