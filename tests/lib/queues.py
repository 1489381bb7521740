"""queues -- what theory knows of M/M/c: servers whose times are exponential, Poisson's arrivals.

    erlang_c(8, 6.5)                the share of those who wait, of 8 servers with 6.5 at work
    holds(8, 0.04, 0.2, 0.95)       the rate up to which 95 % are there for 0.2 s or less
"""
import math

__all__ = ["erlang_c", "holds"]


def erlang_c(servers, offered):
    """The share of those who wait."""
    inverse = 1.0
    for n in range(1, servers + 1):
        inverse = 1 + inverse * n / offered      # of Erlang's B
    blocked = 1 / inverse
    return blocked / (1 - offered / servers * (1 - blocked))


def slower(rate, servers, mean, t):
    """P(time in the system > t)."""
    mu, wait = 1 / mean, erlang_c(servers, rate * mean)
    spare = servers * mu - rate
    return math.exp(-mu * t) * (1 + wait * mu / (spare - mu) * (1 - math.exp(-(spare - mu) * t)))


def holds(servers, mean, t, q):
    low, high = 1e-6, servers / mean * (1 - 1e-9)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if slower(middle, servers, mean, t) > 1 - q else (middle, high)
    return low
