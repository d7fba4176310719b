"""The adapter of agent_magics for the peers' harness; see ``bench_peers``.

The harness puts this folder on the path, runs it in a venv of its own, and measures us beside the others in
one run: round-robin, against the same server.
"""

VENV, DIST, IMPORT = "ours", "agent-magics", "import agent_magics"
LOAD_EXT = "agent_magics"
READY = (
    "from agent_magics import Session; "
    "Session(provider='openai:fixed', base_url='http://127.0.0.1:1/v1', api_key='x').provider"
)

PROMPT = "Write the long report."


def _session(base, tools=()):
    from agent_magics import Session

    return Session(provider="openai:fixed", base_url=base, api_key="x", tools=tools, max_rounds=1000)


def stream(base):
    def run():
        with _session(base) as session:
            return session.ask(PROMPT).reply

    return run


def tools(base, k):
    from _common import ping  # pyright: ignore[reportMissingImports]  # the harness puts it on the path

    from agent_magics import tool

    pinged = tool(ping)

    def run():
        with _session(base, [pinged]) as session:
            return session.ask("go").reply

    return run


KERNEL = {
    "setup": "%load_ext agent_magics\n"
    "import os; os.environ.update(OPENAI_API_KEY='x', OPENAI_BASE_URL='{base}')\n"
    "%config AgentMagics.frontend = 'widgets'",
    "cell": "%%agent --provider openai:fixed\nWrite the long report.\n",
}
