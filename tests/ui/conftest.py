from collections.abc import Iterator

import comm
import pytest
from hypothesis import settings
from ipywidgets.widgets import widget

from .front import FrontEnd

settings.register_profile("shared machine", deadline=None)  # a slow moment is not a bug
settings.load_profile("shared machine")


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Iterator[FrontEnd]:
    """A front end behind every widget of the test; none of these may be left at its end."""
    page = FrontEnd()
    monkeypatch.setattr(comm, "create_comm", page.open_comm)  # the package's own way to plug in a transport
    yield page
    for left in list(widget._instances.values()):
        left.close()


def widgets() -> int:
    """How many widgets live in this process."""
    return len(widget._instances)
