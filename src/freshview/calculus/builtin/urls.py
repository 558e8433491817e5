"""Functions of addresses, as Java reads them, and of JSON texts."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote_plus

from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.errors import BadValue

_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<authority>[^/?#]*))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<ref>.*))?",
    re.DOTALL,
)
_FORBIDDEN = re.compile(r"[\s\"<>\\^`{|}\x00-\x1f\x7f]|%(?![0-9A-Fa-f]{2})")
_AUTHORITY = re.compile(r"(?:(?P<user>[^@]*)@)?(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>\d*))?")
_HOST = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.?"
    r"|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]"
)


def url_encode(text: str) -> str:
    """A text as a form of the web has it."""
    return quote_plus(text, safe="*-._").replace("~", "%7E")


def url_decode(text: str) -> str:
    """A text from its form of the web."""
    out = bytearray()
    data = text.replace("+", " ")
    i = 0
    while i < len(data):
        if data[i] == "%":
            digits = data[i + 1 : i + 3]
            if not re.fullmatch("[0-9A-Fa-f]{2}", digits):
                raise bad("url_decode", f"'{text}' is not encoded", text)
            out.append(int(digits, 16))
            i += 3
        else:
            out += data[i].encode()
            i += 1
    return out.decode(errors="replace")


def try_url_decode(text: str) -> str | None:
    """URL_DECODE, or NULL."""
    try:
        return url_decode(text)
    except BadValue:
        return None


@lru_cache(maxsize=512)
def _parts(url: str) -> dict[str, str | None] | None:
    if _FORBIDDEN.search(url):
        return None
    match = _URI.fullmatch(url)
    if match is None:
        return None
    parts: dict[str, str | None] = dict(match.groupdict())
    scheme, rest = parts["scheme"], url.partition(":")[2]
    if scheme is None and ":" in url.partition("/")[0]:
        return None
    if scheme is not None and not rest.partition("#")[0]:
        return None
    parts["host"] = parts["user"] = None
    if scheme is not None and not rest.startswith("/"):  # opaque, as mailto:a@b
        return {**dict.fromkeys(parts), "scheme": scheme, "ref": parts["ref"]}
    if parts["authority"] == "":
        parts["authority"] = None
    if parts["authority"] is not None:
        server = _AUTHORITY.fullmatch(parts["authority"])
        if server and _HOST.fullmatch(server["host"]):
            parts["host"], parts["user"] = server["host"], server["user"]
    return parts


def parse_url(url: str, part: str, key: str | None = None) -> str | None:
    """A part of an address, or the value of a key of its query."""
    if key is not None and part != "QUERY":
        return None
    parts = _parts(url)
    if parts is None:
        raise bad("parse_url", f"'{url}' is not an address", url)
    if key is not None:
        if parts["query"] is None:
            return None
        match = re.search(f"(?:&|^){re.escape(key)}=([^&]*)", parts["query"])
        return match[1] if match else None
    match part:
        case "HOST":
            return parts["host"]
        case "PATH":
            return parts["path"]
        case "QUERY":
            return parts["query"]
        case "REF":
            return parts["ref"]
        case "PROTOCOL":
            return parts["scheme"]
        case "FILE":
            path, query = parts["path"], parts["query"]
            return path if query is None or path is None else f"{path}?{query}"
        case "AUTHORITY":
            return parts["authority"]
        case "USERINFO":
            return parts["user"]
        case _:
            return None


def try_parse_url(url: str, part: str, key: str | None = None) -> str | None:
    """PARSE_URL, or NULL."""
    try:
        return parse_url(url, part, key)
    except BadValue:
        return None


ENTRIES: tuple[Entry, ...] = (
    entry("url_encode", "string -> string", url_encode),
    entry("url_decode", "string -> string!", url_decode),
    entry("try_url_decode", "string -> string?", try_url_decode),
    entry("parse_url", "string, string, [string] -> string?!", parse_url),
    entry("try_parse_url", "string, string, [string] -> string?", try_parse_url),
)
