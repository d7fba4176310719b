"""``extract``: one text, one value."""

from __future__ import annotations

from typing import Any

import pytest

from agent_magics import extract
from agent_magics.errors import UsageError


@pytest.mark.parametrize("nothing", [None, 5, float("nan"), b"Ada", "", " \n"], ids=repr)
def test_what_is_no_text_is_refused_before_anybody_is_asked(nothing: Any) -> None:
    with pytest.raises(UsageError, match="nothing to extract from"):
        extract(nothing, "age int", provider="no such provider")
