"""The certificates that this machine trusts, as Java reads them.

The system's Java knows them. A Java from a wheel knows only the certificates in the wheel: behind a
proxy or a mirror with its own certificate, it could not download anything.
"""

from __future__ import annotations

import hashlib
import ssl
import struct
from collections.abc import Sequence
from pathlib import Path

from freshview.files import write_whole

PASSWORD = "changeit"
"""Java's own default: a trust store has no secrets."""


def trusted() -> list[bytes]:
    """The certificate authorities that OpenSSL trusts on this machine."""
    return sorted(ssl.create_default_context().get_ca_certs(binary_form=True))


def trust_store(certificates: Sequence[bytes], folder: Path) -> Path | None:
    """A Java key store with these certificates, in a folder; None without certificates."""
    if not certificates:
        return None
    data = key_store(certificates)
    path = folder / f"trust-{hashlib.sha256(data).hexdigest()[:12]}.jks"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    return path


def key_store(certificates: Sequence[bytes]) -> bytes:
    """Certificates in the format JKS, version 2: a header, the entries, and a digest of both.

    >>> key_store([])[:12].hex()
    'feedfeed0000000200000000'
    """
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(certificates))]
    for number, certificate in enumerate(certificates):
        # A trusted certificate is an entry of kind 2: alias, date of creation, kind of certificate.
        parts += [struct.pack(">I", 2), _text(f"authority {number}"), struct.pack(">Q", 0)]
        parts += [_text("X.509"), struct.pack(">I", len(certificate)), certificate]
    data = b"".join(parts)
    salt = PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite"
    return data + hashlib.sha1(salt + data).digest()


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode("ascii")
