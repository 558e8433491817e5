"""Windows of time in the words of a statement: what the library would not read as calls."""

from __future__ import annotations

from collections.abc import Sequence

from freshview.sql.parse.time_windows import PARTITION, TABLE_FUNCTIONS


def window_words(words: Sequence[str]) -> list[tuple[int, str]]:
    """The words by their numbers, each with another one in its place, or none.

    WINDOW is a name where it declares no window; of SESSION(TABLE t PARTITION BY k, DESCRIPTOR(x))
    the arguments are t, the keys in a call of their own, and the descriptor.

    >>> words = ["SESSION", "(", "TABLE", "t", "PARTITION BY", "k", ",", "DESCRIPTOR", "(", "x"]
    >>> " ".join(text or words[i] for i, text in window_words(words))
    'session ( t , partition of ( k ) , DESCRIPTOR ( x'
    """
    out: list[tuple[int, str]] = []
    inside = partitioned = False
    for i, word in enumerate(words):
        upper, following = word.upper(), [w.upper() for w in words[i + 1 : i + 3]]
        opens = words[max(0, i - 2) : i]
        if upper == "WINDOW" and following[1:] != ["AS"]:
            out.append((i, "window"))
        elif upper == "SESSION" and following[:1] == ["("]:
            out.append((i, "session"))
        elif upper == "TABLE" and opens[1:] == ["("] and opens[0].lower() in TABLE_FUNCTIONS:
            inside = True
        elif upper == "PARTITION BY" and inside:
            out += [(i, ","), (i, PARTITION), (i, "(")]
            partitioned = True
        elif upper == "DESCRIPTOR" and partitioned and out[-1][1] == "":
            comma = out.pop()
            out += [(comma[0], ")"), comma, (i, "")]
            partitioned = False
        else:
            out.append((i, ""))
    return out
