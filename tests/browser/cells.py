"""First cells of notebooks: the extension, and a model that is scripted there."""

from __future__ import annotations

SCRIPTED = """%load_ext agent_magics
from agent_magics import provider
from agent_magics.talk import Saying, Stop, Thinking, ToolCall
from agent_magics.testing import Hang, ScriptedProvider

def run_python(code):
    return ToolCall(id="c1", name="run_python", arguments={{"code": code}})

model = ScriptedProvider([{replies}])
provider("script", lambda **_: model)
%config AgentMagics.provider = "script"
"""

ENDLESS = """%load_ext agent_magics
import asyncio
from agent_magics import provider

@provider("endless")
def endless(**_):
    class Endless:
        async def fetch(self, messages, tools):
            for number in range(3000):
                yield {"type": "saying", "text": f"word{number} "}
                await asyncio.sleep(0.02)
    return Endless()

%config AgentMagics.provider = "endless"
"""
"""A model that talks for a minute."""

TRIPS = """%load_ext agent_magics
import pandas as pd
trips = pd.DataFrame({
    "vehicle": ["van", "car", "bicycle", "car", "van"],
    "mph": [30.0, 40.0, 11.0, 44.0, 34.0],
})
"""
"""For the rules of ``demo``: a table to ask about."""


def scripted(*replies: str) -> str:
    """A cell in which a model is given its replies, one a request, as Python."""
    return SCRIPTED.format(replies=", ".join(replies))
