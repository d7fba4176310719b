"""The progress of many rows, in words, as a bar and as a line."""

from __future__ import annotations

import io

from agent_magics.extract.progress import Count, Progress
from agent_magics.talk import Usage
from agent_magics.ui.progress import ProgressLine, bundle, said


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pause_that_the_vendor_asked_for_is_said_instead_of_the_time_left() -> None:
    now = Progress(done=10, total=100, seconds=2.0, rate=5.0, paused=12.0)

    assert "10 of 100 rows · 5.0 rows/s · the vendor wants 12 s of rest" == said(now)


def test_an_unknown_number_of_rows_has_no_end_and_an_unknown_price_is_not_shown() -> None:
    now = Progress(done=10, seconds=2.0, rate=50.0, usage=Usage(input=1_000))

    assert "10 rows · 50 rows/s · 1,000 tokens" == said(now)
    assert "aria-valuenow" not in bundle(now)["text/html"]


def test_the_end_tells_what_was_reused_what_failed_and_how_long_it_took() -> None:
    now = Progress(done=100, total=100, reused=40, failed=2, seconds=3.0, cost=1.5, over=True)

    assert "100 of 100 rows · 40 from the checkpoint · 2 failed · $1.50 · 3.0 s" == said(now)
    assert 'aria-valuenow="100"' in bundle(now)["text/html"]


def test_a_terminal_has_one_line_that_ends_with_the_run() -> None:
    out = Terminal()
    show = ProgressLine(out)
    show(Progress(done=50, total=100, seconds=1.0))
    show(Progress(done=100, total=100, seconds=2.0, over=True))

    assert "\r" in out.getvalue()
    assert 1 == out.getvalue().count("\n")
    assert "█" * 14 + "·" in out.getvalue()


def test_a_file_has_few_lines_and_none_for_a_short_run() -> None:
    out = io.StringIO()
    show = ProgressLine(out)
    show(Progress(done=50, total=100, seconds=1.0))
    show(Progress(done=100, total=100, seconds=2.0, over=True))
    assert "" == out.getvalue()

    for second in range(25):
        show(Progress(done=second, seconds=float(second)))
    show(Progress(done=25, seconds=25.0, over=True))
    assert 3 == out.getvalue().count("\n")


def test_the_cost_is_counted_by_the_price_of_what_was_used() -> None:
    told: list[Progress] = []
    count = Count(told.append, 2, lambda usage: usage.total / 1_000)
    count.done, count.usage = 2, Usage(input=400, output=100)
    count.end()

    assert [0.5] == [each.cost for each in told]
