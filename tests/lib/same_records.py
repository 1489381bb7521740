#!/usr/bin/env python3
"""same_records -- tell in what two histories of Keystone's differ.

    tests/lib/same_records.py WANT.jsonl <GOT.jsonl

Records are compared key by key, times as moments. Prints a line for every key
that differs, and at last how many records are the same.
"""
import datetime
import json
import re
import sys


def moment(text):
    """'2026-11-01T12:00:00.5' and '2026-11-01T14:00:00.500+02:00' are the same; no zone is UTC."""
    whole = re.sub(r"\.(\d+)", lambda m: "." + m[1].ljust(6, "0")[:6], text.replace("Z", "+00:00"))
    t = datetime.datetime.fromisoformat(whole)
    utc = datetime.timezone.utc
    return (t if t.tzinfo else t.replace(tzinfo=utc)).astimezone(utc)


def same(key, want, got):
    if key in ("start_time", "end_time") and isinstance(want, str) and isinstance(got, str):
        return moment(want) == moment(got)
    return want == got and isinstance(want, bool) == isinstance(got, bool)


def shown(record, key):
    return json.dumps(record[key]) if key in record else "not said"


def differences(want, got):
    for key in list(want) + [k for k in got if k not in want]:
        if key not in want or key not in got or not same(key, want[key], got[key]):
            yield f"{want['task_id']}: {key} was {shown(want, key)}, is {shown(got, key)}"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        want = [json.loads(line) for line in f]
    got = [json.loads(line) for line in sys.stdin]
    found = [list(differences(w, g)) for w, g in zip(want, got)]
    for lines in found:
        print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{found.count([])} of {len(want)} records are the same; {len(got)} came")


if __name__ == "__main__":
    main()
