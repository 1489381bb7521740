#!/bin/sh
# Let libFuzzer feed each fuzz_* program: tools/fuzz.sh BUILD SECONDS
#
# It starts from tests/fuzz/corpus/NAME; what it finds stays in BUILD/corpus/NAME.
# An input that breaks something is BUILD/crash-*: fix it, then move that file
# to tests/fuzz/corpus/NAME, where `make test` replays it for ever.
set -eu
build=$1 seconds=$2 found=0 failed=0

for program in "$build"/tests/fuzz/fuzz_*; do
	[ -f "$program" ] || continue
	name=${program##*/fuzz_}
	found=$((found + 1))
	mkdir -p "$build/corpus/$name" "tests/fuzz/corpus/$name"
	if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
		-artifact_prefix="$build/crash-$name-" \
		"$build/corpus/$name" "tests/fuzz/corpus/$name" >"$build/fuzz-$name.log" 2>&1; then
		inputs=$(find "$build/corpus/$name" -type f | wc -l)
		echo "ok   $name: $seconds s, $inputs inputs kept"
	else
		failed=$((failed + 1))
		echo "FAIL $name"
		tail -n 60 "$build/fuzz-$name.log"
	fi
done

echo "$((found - failed)) passed, $failed failed, 0 skipped"
[ "$found" -gt 0 ] && [ "$failed" -eq 0 ]
