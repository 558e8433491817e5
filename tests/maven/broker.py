"""A Kafka broker of one node on this machine, for as long as a test lasts."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freshview.spark.java import provide_java

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
    """Kafka on a port of this machine, with the classes of these jars."""

    def __init__(self, jars: Sequence[str], folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        provide_java()
        # Short-lived: the quick compiler alone, as for sessions.
        options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        self._java = [_java(), *options, "-cp", os.pathsep.join(jars)]
        config = folder / "server.properties"
        config.write_text(CONFIG.format(port=self.port, controller=_free_port(), folder=folder))
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self._run("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(config))
        self._log = (folder / "broker.log").open("w")
        self._process = subprocess.Popen(
            [*self._java, "kafka.Kafka", str(config)], stdout=self._log, stderr=self._log
        )
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(30)
        self._log.close()

    def _run(self, *words: str) -> None:
        done = subprocess.run(
            [*self._java, *words], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _wait(self) -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            assert self._process.poll() is None, (self.folder / "broker.log").read_text()[-2000:]
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        raise AssertionError("the broker does not answer")

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    assert java is not None
    return java


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
