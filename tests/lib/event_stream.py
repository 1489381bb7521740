"""event_stream -- text/event-stream as the HTML standard says it (WHATWG, 9.2.5 and 9.2.6).

    events(data)        [(type, data)] of the events that are dispatched, as text
    stream(r)           bytes of a stream, mostly events, drawn by a random.Random

Written from the rules and nothing else, one sentence of theirs a line where that can be: it shares
no line with assay's.
"""
import re

__all__ = ["events", "stream"]


def events(data):
    """Streams must be decoded by UTF-8 decode, which strips one mark of the byte order."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    lines = re.split("\r\n|\n|\r", text)
    lines.pop()                     # what has no end of line is no line
    out, kind, buffer = [], "", ""
    for line in lines:
        if line == "":                      # dispatch the event
            if buffer != "":
                out.append((kind, buffer.removesuffix("\n")))
            kind, buffer = "", ""
            continue
        if line.startswith(":"):            # ignore the line
            continue
        field, colon, value = line.partition(":")
        if colon:
            value = value.removeprefix(" ")
        if field == "event":
            kind = value
        elif field == "data":
            buffer += value + "\n"
    return out


ENDS = ["\n", "\n", "\n", "\r\n", "\r"]
WORDS = ["a", "data", "[DONE]", '{"choices": []}', "é", "€", "😀", " ", "  x", ":", "", "\t"]
NAMES = ["data", "data", "data", "data", "event", "id", "retry", "datas", "Data", " data", "", "x"]


def line(r):
    value = "".join(r.choice(WORDS) for _ in range(r.randrange(4)))
    return r.choice(NAMES) + r.choice((":", ": ", ": ", ":  ", "")) + value


def stream(r):
    mark = r.choice((b"", b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbf"))
    text = "".join((line(r) if r.randrange(3) else "") + r.choice(ENDS)
                   for _ in range(r.randrange(30)))
    data = bytearray(mark + text.encode())
    for _ in range(r.choice((0, 0, 0, 1, 4)) if data else 0):       # bytes that are no text
        data[r.randrange(len(data))] = r.choice((0x80, 0xc3, 0xe2, 0xff, 0x0a, 0x0d, 0x3a))
    return bytes(data)
