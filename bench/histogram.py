"""histogram -- what recording one latency costs, and how far off a quantile is told."""
import subprocess

from harness import Result, median

ABOUT = "Recording a latency into a histogram, and the worst of a hundred quantiles read from it."
LIMIT_NS, LIMIT_ERROR = 4.0, 0.1


def run(b):
    rounds = 5 if b.quick else 25
    out = subprocess.run([b.build / "bench" / "histogram_add", str(rounds)], capture_output=True,
                         text=True, check=True).stdout.split()
    record, error = median([float(x) for x in out[:-1]]), median([100 * float(out[-1])])
    result = Result(["", "measured", "budget"])
    result.keep(record_ns=record, error_percent=error)
    result.rows = [["CPU time of a record", record.text(" ns"),
                    result.budget("a record", record, LIMIT_NS, " ns")],
                   ["worst error of a quantile", error.text(" %"),
                    result.budget("a quantile", error, LIMIT_ERROR, " %")]]
    return result
