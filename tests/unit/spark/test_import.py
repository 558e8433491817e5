"""What is not used is not imported: Spark and Arrow take their time."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_package_brings_neither_spark_nor_arrow() -> None:
    text = (
        "import freshview, freshview.cli, sys;"
        "assert not {'pyspark', 'py4j', 'pyarrow'} & set(sys.modules), sorted(sys.modules);"
        "freshview.pipeline, freshview.materialized_view, freshview.Pipeline;"
        "assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)
