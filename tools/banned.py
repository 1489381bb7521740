"""banned -- what src/ may not say, and what to say instead. One table; lint loops over it.

(pattern, files where it is allowed, why). The pattern is matched against code
without comments and strings; places are shell patterns below src/.
"""


def call(*names):
    """A call of one of these functions, or taking its address; not a member or a longer name."""
    return r"(?<![\w.>])(?:" + "|".join(names) + r")\s*\("


BANNED = [
    (call("strcpy", "stpcpy", "strcat", "strncat", "sprintf", "vsprintf", "gets"), [],
     "has no limit; build text in a struct as_buf"),
    (call("strtok"), [],
     "keeps hidden state; scan with a pointer and a length"),
    (call("gmtime", "localtime", "ctime", "asctime"), [],
     "keeps hidden state; use the _r form"),
    (call("atoi", "atol", "atoll", "atof"), [],
     "cannot report an error; use base/num.h"),
    (call("strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold"),
     ["base/num.c"],
     "is for base/num.c only; use base/num.h"),
    (call("system", "popen"), [],
     "starts a shell; spawn the program itself"),
    (r"\bgoto\b", [],
     "a function that needs it owns two things and wants to be two functions"),
    (call("printf", "vprintf", "puts", "putchar", "perror"), ["cli/*"],
     "only cli/ prints"),
    (r"\bfprintf\s*\(\s*(?:stderr|stdout)\b", ["cli/*", "base/fault.c"],
     "only cli/ prints"),
    (call("malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "asprintf",
          "vasprintf", "aligned_alloc", "posix_memalign"), ["base/fault.h", "preload/*"],
     "cannot be made to fail on purpose; use base/fault.h"),
]
