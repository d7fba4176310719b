"""``demo``: rules that answer like a model.

Rules, not intelligence, and it says so. Yet nothing in it is canned: each answer is computed from the prompt,
the history, the facts in the system prompt and the tools that the request offers. It needs no network and no
weights, and the same request always has the same answer, so it serves for trying out, for teaching, and for
tests of everything around a model.

How it decides, in the order of the files::

    messages --reading--> Situation --following--> a question that stands for itself
        deciding: the first rule that has a move makes it
            a refusal is accepted         deciding      small talk                chatting
            facts                         memory        more of a cut result      deciding
            variables and tables          frames        -> pandas_code
            tools, chained and missing    planning      -> course -> making
            sums                          calculating   no rule fits              admitting
    Say | Call --speaking--> Thinking, Saying, ToolCall, Usage, Stop

What the rules see of a text is in ``passage`` (request and material told apart), ``words``, ``figures``,
``lexicon`` (units), ``dates`` and ``evidence``. ``matching`` finds the tools that a text speaks of,
``arguments`` fills what they take. ``recipes`` are tools that the demonstration can write: each gives real
source, and computes the same by itself. ``filling`` fills a JSON Schema from a text.

Every request is read from its beginning; nothing is kept between two of them.
"""

from agent_magics.providers.demo.provider import DemoProvider, demo

__all__ = ["DemoProvider", "demo"]
