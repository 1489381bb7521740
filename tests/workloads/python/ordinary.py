"""What programs do all day, in small portions: ordinary.py SECONDS

Texts, JSON, regular expressions, sorting with a key, objects, generators, and a file now and then.
"""
import collections
import json
import re
import sys
import tempfile
import time

Order = collections.namedtuple("Order", "number name price")
WORDS = "the quick brown fox jumps over the lazy dog and runs away from 12 cats or 345 mice".split()


class Basket:
    def __init__(self):
        self.orders = []

    def add(self, order):
        self.orders.append(order)

    def total(self):
        return sum(o.price for o in self.orders)


def fill(n):
    basket = Basket()
    for i in range(n):
        basket.add(Order(i, WORDS[i % len(WORDS)], i * 37 % 101))
    return basket


def price(order):
    return order.price


def texts(n):
    found = [re.sub(r"(\d+) (\w+)", r"\2 \1", " ".join(WORDS[i % 7:])) for i in range(n)]
    return collections.Counter(word for text in found for word in text.split())


def exchange(basket):
    text = json.dumps([o._asdict() for o in basket.orders], indent=1)
    return [Order(**fields) for fields in json.loads(text)]


def keep(orders, file):
    file.seek(0)
    for order in orders:
        file.write(f"{order.number};{order.name};{order.price}\n")
    file.flush()


def main():
    print("ready", flush=True)
    end = time.monotonic() + float(sys.argv[1])
    with tempfile.TemporaryFile("w") as file:
        while time.monotonic() < end:
            basket = fill(200)
            basket.total()
            texts(60)
            keep(sorted(exchange(basket), key=price), file)


main()
