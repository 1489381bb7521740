"""csource -- just enough understanding of C text for tools/lint.py."""
import re

# A comment, a string or a character; whichever starts first swallows the others.
LEXEMES = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    """Spaces instead of everything but line ends, so that places stay where they were."""
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """The text with comments, strings and characters blanked."""
    return LEXEMES.sub(lambda m: blank(m[0]), text)


def without_directives(code):
    """The code with #define and its like blanked, continuation lines too."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank(m[0]), code, flags=re.M)


def function_name(head):
    """The name before the parameter list that ends `head`, or None if none does."""
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)", " ", head, flags=re.S).rstrip()
    if not head.endswith(")") or "=" in head:
        return None
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth == 0:
            name = re.search(r"(\w+)\s*$", head[:at])
            return name[1] if name else None
    return None


def functions(text):
    """(name, line, length) of every function; from its { to its }, both counted.

    A body is a { outside all others with a parameter list before it. A } in
    the first column closes everything, so an #if that opens a brace twice
    spoils one function at most.
    """
    code = without_directives(code_only(text))
    found, depth, since, start, name = [], 0, 0, 0, None
    for m in re.finditer(r"[{};]", code):
        at = m.start()
        if m[0] == "{":
            if depth == 0:
                name, start = function_name(code[since:at]), at
            depth += 1
        elif m[0] == "}":
            first_column = at == 0 or code[at - 1] == "\n"
            depth = 0 if first_column else max(depth - 1, 0)
            if depth == 0 and name:
                first, last = (code.count("\n", 0, i) + 1 for i in (start, at))
                found.append((name, first, last - first + 1))
                name = None
        if depth == 0:
            since = m.end()
    return found
