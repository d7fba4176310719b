"""Many rows over a real cluster of worker processes."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from agent_magics.errors import MissingKey, UsageError
from agent_magics.extract.cluster import Chunk, Errand
from agent_magics.extract.progress import Progress
from agent_magics.extract.task import Limits
from agent_magics.many_rows import extract_many
from agent_magics.providers.keys import Key, mask
from tests.extract.conftest import VendorProcess
from tests.extract.vendor import SCHEMA, expected, never_fits, prompt

KEY = "not-a-real-key-4711"

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes; their files are where a test can look for what should not be there."""
    from distributed import LocalCluster

    folder = tmp_path_factory.mktemp("dask")
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        local_directory=str(folder),
        silence_logs=logging.ERROR,
    ) as made:
        cluster: Any = made
        cluster.folder = folder
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Dask itself warns of is Dask's
        with cluster.get_client() as client:
            client.wait_for_workers(2, timeout=60)
            yield client


def test_rows_come_back_in_order_with_their_errors(client: Any, vendor: VendorProcess) -> None:
    texts = (prompt(at) for at in range(400))
    rows = extract_many(texts, SCHEMA, client=client, concurrency=80, **vendor.options("10-5-1-1-2"))

    hopeless = {at for at in range(400) if never_fits(at, 2)}
    assert 400 == len(rows)
    assert hopeless == {each.index for each in rows.failures}
    assert {"invalid"} == {each.kind for each in rows.failures}
    assert all(expected(at) == row for at, row in enumerate(rows) if at not in hopeless)
    assert rows.usage.total >= 400 * 80
    assert vendor.stats["most"] <= 80


def test_a_killed_worker_loses_nothing_and_doubles_nothing(
    client: Any, vendor: VendorProcess, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(now: Progress) -> None:
        if now.done >= 100 and not killed:
            pids = client.run(os.getpid)
            killed.append(min(pids.values()))
            os.kill(killed[0], signal.SIGKILL)

    how = vendor.options("20-5-1-1") | {"concurrency": 80, "checkpoint": tmp_path / "run.db"}
    texts = [prompt(at) for at in range(900)]
    pairs = list(extract_many(texts, SCHEMA, client=client, stream=True, **how | {"progress": kill}))

    assert 1 == len(killed)
    assert list(range(900)) == sorted(index for index, _ in pairs)
    assert all(expected(index) == value for index, value in pairs)
    again = extract_many(texts, SCHEMA, **how)
    assert 900 == again.reused


def test_a_rate_is_shared_by_all_workers(client: Any, vendor: VendorProcess) -> None:
    extract_many(
        (prompt(at) for at in range(160)),
        SCHEMA,
        client=client,
        requests_per_minute=2_400,
        **vendor.options("1"),
    )

    assert vendor.stats["seconds"] >= 1.5  # two bursts of 40; the other 80 at 40 a second


def test_a_pause_of_one_worker_is_kept_by_the_other(client: Any, vendor: VendorProcess) -> None:
    paused: list[float] = []

    def watch(now: Progress) -> None:
        paused.append(now.paused)

    how: dict[str, Any] = vendor.options("20-4") | {"progress": watch}
    rows: Any = extract_many((prompt(at) for at in range(200)), SCHEMA, client=client, concurrency=4, **how)

    assert [] == rows.failures
    assert max(paused) > 0


def test_a_key_reaches_the_workers_and_neither_disk_nor_log(
    client: Any, cluster: Any, vendor: VendorProcess
) -> None:
    options: dict[str, Any] = vendor.options("5") | {"api_key": KEY}
    assert [expected(1)] == extract_many([prompt(1)], SCHEMA, client=client, **options)

    logs = [client.get_worker_logs(), client.get_scheduler_logs(), client.story("extract_many")]
    assert KEY not in repr(logs)
    for path in (each for each in cluster.folder.rglob("*") if each.is_file()):
        assert KEY.encode() not in path.read_bytes()


def refusing(lock: Any = None) -> Any:
    class Refusing:
        name, model, window = "refusing", "1", 0

        def __init__(self) -> None:
            self.lock = lock

        async def fetch(self, messages: Any, tools: Any, *, schema: Any = None) -> Any:
            raise MissingKey("no such key", status=401)
            yield

        async def aclose(self) -> None: ...

    return Refusing()


def test_what_ends_every_row_ends_the_run(client: Any) -> None:
    with pytest.raises(MissingKey, match="no such key"):
        extract_many(["row 1"], SCHEMA, client=client, provider=refusing(), progress=False)


def test_a_provider_that_cannot_travel_is_refused_at_once(client: Any) -> None:
    with pytest.raises(UsageError, match="can't be sent"):
        extract_many(["row 1"], SCHEMA, client=client, provider=refusing(threading.Lock()), progress=False)


def strict_person() -> Any:
    """A model with a rule of its own, as a notebook's cell would define it."""

    class Person(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def long(cls, name: str) -> str:
            if len(name) < 4:
                raise ValueError("too short")
            return name

    return Person


def test_a_model_with_rules_of_its_own_travels_too(client: Any) -> None:
    texts = ["Adaline was born 1815", "Bob was born 1912"]
    rows = extract_many(texts, strict_person(), client=client, provider="demo", progress=False)

    assert {"name": "Adaline"} == rows[0]
    assert "too short" in rows.failures[0].message


def test_a_worker_that_lacks_something_says_what(client: Any) -> None:
    def provider() -> Any:
        made = refusing()
        made.lock = Missing()
        return made

    class Missing:
        def __reduce__(self) -> Any:
            return __import__, ("a_package_that_is_nowhere",)

    rows = extract_many(["row 1"], SCHEMA, client=client, provider=provider(), progress=False)

    assert "a_package_that_is_nowhere" in rows.failures[0].message


def test_a_key_is_masked_where_it_arrives_and_logs_show_no_row() -> None:
    key = pickle.loads(pickle.dumps(Key(value=KEY, source="$X")))

    assert KEY not in mask(f"it was {key.value}")
    assert "secret" not in repr(Chunk([(1, "a secret text")]))
    errand = Errand(run="r", parcel=KEY.encode(), instruction="secret", repairs=2, limits=Limits())
    assert KEY not in repr(errand)
    assert "secret" not in repr(errand)
