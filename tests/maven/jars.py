"""The jars of the connectors and of a broker, fetched by Spark itself as a user's are.

`python -m tests.maven.jars` in the connectors' environment prints their paths, as a JSON list.
Which repository they come from is up to Spark and to how this machine is set up.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

BROKER = "org.apache.kafka:kafka_2.13:3.9.0"
"""The server of the release whose client Spark's connector brings along."""


def main() -> int:
    """Print the paths, or say on standard error what is missing."""
    import pyspark

    from freshet.errors import FreshetError
    from freshet.spark.session import session

    with tempfile.TemporaryDirectory() as folder:
        try:
            spark = session(
                "local[1]", packages=["kafka", "delta", BROKER], log=Path(folder) / "spark.log"
            )
        except FreshetError as e:
            print(e, file=sys.stderr)
            return 1
        jars = [j.removeprefix("file://") for j in spark.conf.get("spark.jars", "").split(",")]
        spark.stop()
    # Spark's resolver leaves Scala out, which Spark has itself.
    scala = (Path(pyspark.__file__).parent / "jars").glob("scala-library-*.jar")
    print(json.dumps([*jars, *map(str, scala)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
