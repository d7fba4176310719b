"""The table as text: attacks stopped by each layer alone and by all together, in every setting."""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.forge import check
from tests.forge.corpus import corpus
from tests.redteam.rows import Layer, Row
from tests.redteam.trial import WALLS, Result

Results = Mapping[str, Result]


def summary(rows: list[Row], by_setting: Mapping[str, Results], not_run: Mapping[str, str]) -> str:
    """What the suite prints at its end."""
    lines = [f"red team: {len(rows)} attacks", f"{'setting':14s} {'tried':>6s} {'shown':>6s}"]
    lines[1] += "".join(f" {layer:>10s}" for layer in WALLS) + f" {'together':>10s} {'twins':>7s}"
    for setting, results in by_setting.items():
        shown = [result for result in results.values() if result.shown]
        line = f"{setting:14s} {len(results):6d} {len(shown):6d}"
        for wall in (*WALLS, "together"):
            tried = [result for result in shown if wall in result.stopped]
            line += f" {sum(result.stopped[wall] for result in tried):4d}/{len(tried):<5d}"
        honest = sum(not result.twin for result in results.values())
        lines.append(f"{line} {honest:3d}/{len(results):<3d}")
    lines += [f"{setting:14s} not run: {why}" for setting, why in not_run.items()]
    everything = next(iter(by_setting.values()), {})
    for layer in (Layer.ZYGOTE, Layer.WORKER, Layer.BROKER, Layer.HOST):
        named = [row for row in rows if layer in row.stops and row.name in everything]
        stopped = sum(everything[row.name].stopped["together"] for row in named)
        lines.append(f"expected of the {layer}: {stopped} of {len(named)} stopped")
    lines.append(_of_the_tree_check(rows))
    lines += [f"open, knowingly: {row.name}" for row in rows if row.open]
    for setting, results in by_setting.items():
        unshown = [row.name for row in rows if row.name in results and not results[row.name].shown]
        if unshown:
            lines.append(f"not shown to work as {setting}: {', '.join(unshown)}")
    return "\n".join(lines)


def _of_the_tree_check(rows: list[Row]) -> str:
    """What the check of the source refuses before anything runs: its own rows, and the other layers'."""
    own = [row for row in rows if Layer.TREE in row.stops]
    refused = {row.name for row in rows if not check(row.attack, "attack").ok}
    twins = sum(check(row.twin, "twin").ok for row in own)
    tools = corpus()
    falsely = sum(not check(tool.source, tool.name).ok for tool in tools)
    return (
        f"expected of the tree check: {sum(row.name in refused for row in own)} of {len(own)} refused, "
        f"{twins} of {len(own)} twins pass; of all attacks it refuses {len(refused)} of {len(rows)}; "
        f"of honest tools {falsely} of {len(tools)}"
    )
