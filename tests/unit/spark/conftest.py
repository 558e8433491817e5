"""One Spark session for all the tests that need one, and the mark for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from freshet.spark.run.java import NoJava, provide_java
    from freshet.spark.session import session

    try:
        provide_java()
    except NoJava as e:
        pytest.skip(str(e))
    folder: Path = tmp_path_factory.mktemp("spark")
    made = session(
        "local[2]",
        settings={
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.shuffle.partitions": "2",
        },
        log=folder / "spark.log",
    )
    yield made
    made.stop()
