#!/bin/sh
# Profile a real job and show what it used: examples/demo.sh [PROGRAM]
#
# The job compiles a C file, lets two Python processes work, and sorts and packs
# a file: three phases, a handful of processes, about ten seconds. Runs are kept
# in a store of their own, which is removed at the end.
set -eu
assay=$(realpath "${1:-build/assay}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export ASSAY_STORE="$work/store"

# A C file that gives the compiler something to think about.
awk 'BEGIN {
	for (f = 0; f < 250; f++) {
		printf "double f%d(double *a, int n)\n{\n\tdouble s = %d;\n", f, f
		for (l = 0; l < 4; l++)
			printf "\tfor (int i = %d; i < n; i++)\n" \
			       "\t\ts += a[i] * a[n - i] / (s + %d);\n", l, l + 1
		print "\treturn s;\n}"
	}
}' >big.c

cat >work.py <<'END'
import hashlib, multiprocessing

def busy(seed):
    data = bytes(8_000_000)
    for _ in range(180):
        data = hashlib.sha256(data).digest() * 250_000
    return seed

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        pool.map(busy, range(4))
END

cat >job.sh <<'END'
set -e
gcc -O2 -c big.c -o big.o
python3 work.py
seq 1 300000 | sort -R | gzip >shuffled.gz
END

echo "\$ assay run --name demo -- sh job.sh"
"$assay" run --name demo -- sh job.sh
id=$("$assay" jobs --json | grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)
echo
echo "\$ assay show $id"
"$assay" show "$id"
