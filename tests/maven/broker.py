"""A Kafka broker of one node, from Maven's jars, for as long as a test lasts."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pyspark

SERVER = "org.apache.kafka:kafka_2.13:3.9.1"

RESOLVE = """
from freshet.spark.session import session
from pathlib import Path
session("local[1]", packages=[server], settings={"spark.jars.ivy": ivy}, log=Path("ivy.log")).stop()
"""

CONFIG = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/log
auto.create.topics.enable=true
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class Broker:
    """Kafka on a port of this machine; `jars` is the folder of its libraries."""

    def __init__(self, jars: Path, folder: Path) -> None:
        self.folder, self.jars = folder, jars
        self.port = _free()
        config = folder / "server.properties"
        config.write_text(CONFIG.format(port=self.port, controller=_free(), folder=folder))
        self._log = (folder / "broker.log").open("w")
        name = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self.run("kafka.tools.StorageTool", "format", "-t", name, "-c", str(config))
        self._process = subprocess.Popen(
            [*self._java(), "kafka.Kafka", str(config)], stdout=self._log, stderr=self._log
        )
        self._wait()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def run(self, *words: str) -> None:
        done = subprocess.run(
            [*self._java(), *words], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(30)
        self._log.close()

    def _java(self) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
        assert java is not None
        # Spark's resolver leaves Scala out, which Spark has itself.
        [scala] = (Path(pyspark.__file__).parent / "jars").glob("scala-library-*.jar")
        return [java, "-Xmx512m", "-cp", f"{self.jars}/*{os.pathsep}{scala}"]

    def _wait(self) -> None:
        end = time.monotonic() + 90
        while time.monotonic() < end:
            assert self._process.poll() is None, (self.folder / "broker.log").read_text()[-2000:]
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.3)
        raise AssertionError("the broker does not answer")

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
