"""The jars of the connectors and of a broker, fetched by Spark itself as a user's are.

`python -m tests.maven.jars` in the connectors' environment writes their paths down there. Which
repository they come from is up to Spark and to how this machine is set up.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

PACKAGES = ["kafka", "delta", "org.apache.kafka:kafka_2.13:3.9.0"]
"""The broker is of the release whose client Spark's connector brings along."""

LIST = "jars.json"


def fetched(home: Path) -> list[str] | None:
    """The paths that were written down in an environment, if all of that is there still."""
    try:
        entries = json.loads((home / LIST).read_text())
    except (OSError, ValueError):
        return None
    whole = entries["packages"] == PACKAGES and all(Path(jar).exists() for jar in entries["jars"])
    return list(entries["jars"]) if whole else None


def main() -> int:
    """Fetch them, or say on standard error what is missing."""
    import pyspark

    from freshview.errors import FreshviewError
    from freshview.spark.session import session

    with tempfile.TemporaryDirectory() as folder:
        try:
            spark = session("local[1]", packages=PACKAGES, log=Path(folder) / "spark.log")
        except FreshviewError as e:
            print(e, file=sys.stderr)
            return 1
        jars = [j.removeprefix("file://") for j in spark.conf.get("spark.jars", "").split(",")]
        spark.stop()
    # Spark's resolver leaves Scala out, which Spark has itself.
    jars += map(str, (Path(pyspark.__file__).parent / "jars").glob("scala-library-*.jar"))
    text = json.dumps({"packages": PACKAGES, "jars": jars})
    (Path(sys.prefix) / LIST).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
