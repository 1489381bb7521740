#!/bin/sh
# run.sh [NODES [PORT]] -- the pipeline as NODES processes on this machine, from PORT on, until it
# is ended. The pid of node N is in node-N.pid.
set -eu
nodes=${1:-1} port=${2:-8000} here=$(dirname "$0") i=0
export TOTAL_NODES="$nodes"
while [ $i -lt "$nodes" ]; do
	export "NODE_${i}_IP=127.0.0.1:$((port + i))"
	i=$((i + 1))
done
trap 'kill $pids 2>/dev/null; wait; exit 0' INT TERM
pids=
while [ $i -gt 0 ]; do
	i=$((i - 1))
	NODE_NUMBER=$i "${PYTHON:-/usr/bin/python3}" "$here/pipeline.py" &
	pids="$pids $!"
	echo $! >"node-$i.pid"
done
wait
