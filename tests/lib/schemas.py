"""schemas -- is a JSON document what docs/schema says?

    valid(document, "loop-1")       the document; the test fails if it is not
    faults(document, "loop-1")      what is wrong with it, in words
"""
import json

from harness import ROOT, expect_eq, skip

__all__ = ["validator", "faults", "valid"]

try:
    import jsonschema
except ImportError:
    jsonschema = None

def validator(name):
    if jsonschema is None:
        skip("python3-jsonschema is not installed")
    with open(ROOT / "docs" / "schema" / f"{name}.json") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(document, name="run-1"):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:160]}"
            for e in validator(name).iter_errors(document)]


def valid(document, name="run-1"):
    expect_eq(faults(document, name), [], f"faults of the {name} document")
    return document
