"""The trust store that the Java of a wheel is given."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from freshview.spark.certificates import PASSWORD, trust_store
from freshview.spark.java import launcher, provide_java


@pytest.fixture
def keytool() -> str:
    """Java's own reader of key stores, which is beside every `java`."""
    provide_java()
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else Path(shutil.which("java") or "")
    beside = java.resolve().with_name("keytool")
    if not beside.exists():
        pytest.skip(f"there is no keytool beside {java}")
    return str(beside)


def test_java_reads_what_is_written(keytool: str, tmp_path: Path) -> None:
    [pair] = _certificates(keytool, tmp_path)
    store = trust_store([pair, pair], tmp_path / "cache")
    assert store == trust_store([pair, pair], tmp_path / "cache")
    words = [keytool, "-list", "-keystore", str(store), "-storepass", PASSWORD]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("trustedCertEntry") == 2


def _certificates(keytool: str, folder: Path) -> list[bytes]:
    """One certificate that nobody else has."""
    store = ["-keystore", str(folder / "own.p12"), "-storepass", PASSWORD, "-alias", "own"]
    make = ["-genkeypair", "-keyalg", "EC", "-dname", "CN=own", *store]
    subprocess.run([keytool, *make], check=True, capture_output=True, timeout=60)
    shown = [keytool, "-exportcert", "-rfc", *store]
    pem = subprocess.run(shown, check=True, capture_output=True, text=True, timeout=60).stdout
    return [ssl.PEM_cert_to_DER_cert(pem)]


def test_without_certificates_java_keeps_its_own(tmp_path: Path) -> None:
    assert trust_store([], tmp_path / "cache") is None


def test_the_launcher_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "it's here"
    monkeypatch.setattr("freshview.spark.java.trusted", lambda: [b"certificate"])
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    script = launcher(tmp_path, cache) / "bin" / "java"
    said = subprocess.run([script, "-version"], capture_output=True, text=True, check=True).stdout
    [store] = cache.glob("trust-*.jks")
    assert said.splitlines() == [
        f"-Djavax.net.ssl.trustStore={store}",
        f"-Djavax.net.ssl.trustStorePassword={PASSWORD}",
        "-version",
    ]
