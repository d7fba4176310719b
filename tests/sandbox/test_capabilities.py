"""Nothing by default; what is granted, works, and says so in words where it is not."""

from __future__ import annotations

import pytest

from agent_magics.sandbox import SandboxError
from agent_magics.sandbox.capabilities import Grants, read_grants

IMPORTS = "import datetime, random, secrets, time, uuid\nimport numpy as np, pandas as pd\n"


def call(sandbox, expression, *capabilities):
    return sandbox.call(f"{IMPORTS}def f():\n    return {expression}", "f", capabilities=capabilities)


@pytest.mark.parametrize(
    ("capability", "expected"),
    [
        ("http_get:Example.ORG.", Grants(hosts=frozenset({"example.org"}))),
        ("http_get:[::1]", Grants(hosts=frozenset({"[::1]"}))),
        ("scratch", Grants(scratch="")),
        ("scratch:notes", Grants(scratch="notes")),
        ("clock", Grants(clock=True)),
        ("clock:2026-01-01T00:00", Grants(moment="2026-01-01T00:00")),
        ("random:7", Grants(seed=7)),
    ],
)
def test_capability_is_read(capability, expected):
    assert expected == read_grants([capability])


def test_capabilities_add_up():
    expected = Grants(hosts=frozenset({"a.example", "b.example"}), scratch="")
    assert expected == read_grants(["http_get:a.example", "http_get:b.example", "scratch"])


@pytest.mark.parametrize(
    "capability",
    ["", "network", "http_get", "http_get:", "http_get:*", "http_get:*.example.org", "http_get:a/b",
     "http_get:a@b", "scratch:../x", "scratch:", "clock:soon", "clock:", "random:x", "random:-1", "random:",
     "Clock"],
)  # fmt: skip
def test_unknown_capability_is_refused_and_not_guessed(capability):
    with pytest.raises(SandboxError, match="No capability"):
        read_grants([capability])


def test_two_clocks_are_refused():
    with pytest.raises(SandboxError, match="Two clocks"):
        read_grants(["clock", "clock:2026-01-01"])


CLOCKS = [
    "time.time()",
    "time.time_ns()",
    "time.localtime()",
    "time.strftime('%Y')",
    "time.sleep(0)",
    "datetime.datetime.now()",
    "datetime.datetime.now(datetime.UTC)",
    "datetime.date.today()",
    "pd.Timestamp.now()",
    "pd.Timestamp('now')",
    "pd.to_datetime('now')",
]
CHANCES = [
    "random.random()",
    "random.shuffle([1])",
    "random.Random().random()",
    "random.SystemRandom().random()",
    "random.seed()",
    "secrets.token_hex(4)",
    "uuid.uuid4()",
    "np.random.rand()",
    "np.random.default_rng().random()",
    "np.random.RandomState().rand()",
    "np.random.PCG64().random_raw()",
    "np.random.seed()",
    "pd.Series([1, 2]).sample(1)",
]


@pytest.mark.parametrize("expression", CLOCKS)
def test_clock_is_refused_in_words(sandbox, expression):
    error = call(sandbox, expression).error
    assert error.message.startswith("NotGranted: The clock was not granted. Take the time as an argument")


@pytest.mark.parametrize("expression", CHANCES)
def test_chance_is_refused_in_words(sandbox, expression):
    error = call(sandbox, expression).error
    assert error.message.startswith(
        "NotGranted: Randomness was not granted. Seed a generator with an argument"
    )


@pytest.mark.parametrize("expression", CLOCKS)
def test_granted_clock_runs(sandbox, expression):
    assert call(sandbox, f"str({expression}) and time.time() > 1e9", "clock").value is True


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("time.time()", 1767268800.0),
        ("time.time_ns()", 1767268800000000000),
        ("time.gmtime()[:4]", [2026, 1, 1, 12]),
        ("datetime.datetime.now(datetime.UTC)", "2026-01-01T12:00:00+00:00"),
        ("datetime.date.today()", "2026-01-01"),
        ("pd.Timestamp.now('UTC')", "2026-01-01T12:00:00+00:00"),
        ("time.sleep(100)", None),
    ],
)
def test_clock_that_stands_still_stands_there(sandbox, expression, expected):
    assert expected == call(sandbox, expression, "clock:2026-01-01T12:00").value


def test_stopwatches_stand_still_without_a_clock(sandbox):
    assert [0.0, 0, 0.0] == call(
        sandbox, "[time.perf_counter(), time.monotonic_ns(), time.process_time()]"
    ).value


@pytest.mark.parametrize(
    "expression",
    ["random.Random(1).random()", "np.random.default_rng(1).random()", "np.random.RandomState(1).rand()",
     "uuid.uuid5(uuid.NAMESPACE_DNS, 'a').version", "pd.Series([1, 2]).sample(1, random_state=1).iloc[0]"],
)  # fmt: skip
def test_chance_with_a_seed_needs_no_grant(sandbox, expression):
    first, second = (call(sandbox, expression) for _ in range(2))
    assert (None, first.value) == (first.error, second.value)


def test_shared_generators_open_when_they_are_seeded(sandbox):
    expression = (
        "[random.seed(1), np.random.seed(1), random.random(), random.randint(1, 6), np.random.rand()]"
    )
    assert call(sandbox, expression).value == call(sandbox, expression).value is not None


@pytest.mark.parametrize("expression", [chance for chance in CHANCES if "seed()" not in chance])
def test_granted_chance_differs_from_call_to_call_and_a_seed_repeats_it(sandbox, expression):
    expression = f"[str({expression}) for _ in range(8)]"
    fresh = [call(sandbox, expression, "random") for _ in range(2)]
    seeded = [call(sandbox, expression, "random:7").value for _ in range(2)]
    assert [None, None] == [outcome.error for outcome in fresh]
    assert seeded[0] == seeded[1]
    if "shuffle" not in expression and "sample" not in expression:  # these two come to the same by chance
        assert fresh[0].value != fresh[1].value


def test_scratch_folder_keeps_files_for_one_call(sandbox):
    source = """
def f():
    before = scratch.names()
    scratch.write("a.txt", "é")
    scratch.write("b", b"x")
    scratch.delete("b")
    return [before, scratch.names(), scratch.read_text("a.txt")]
"""
    for _ in range(2):
        assert [[], ["a.txt"], "é"] == sandbox.call(source, "f", capabilities=["scratch"]).value


def test_named_scratch_folder_is_shared_under_its_name(sandbox):
    source = "def f():\n    scratch.write(str(len(scratch.names())), 'x')\n    return scratch.names()"
    found = [
        sandbox.call(source, "f", capabilities=[f"scratch:{name}"]).value
        for name in ("one", "one", "another")
    ]
    assert [["0"], ["0", "1"], ["0"]] == found


@pytest.mark.parametrize("name", ["../a", "/etc/passwd", "", ".hidden", "a/b", "a\\0b", "x" * 200, "a b"])
def test_scratch_takes_plain_names_only(sandbox, name):
    error = sandbox.call(f"def f():\n    scratch.write('{name}', 'x')", "f", capabilities=["scratch"]).error
    assert "is no plain file name" in error.message


def test_missing_scratch_file_is_an_error_in_words(sandbox):
    error = sandbox.call("def f():\n    scratch.read('a')", "f", capabilities=["scratch"]).error
    assert "Refused: there is no file 'a' (line 2: scratch.read('a'))" == error.message


@pytest.mark.parametrize("name", ["http_get", "scratch"])
def test_names_of_capabilities_are_not_there_without_a_grant(sandbox, name):
    assert f"name '{name}' is not defined" in call(sandbox, f"{name}()").error.message
