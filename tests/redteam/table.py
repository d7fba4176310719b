"""All rows, in order; a new class of attacks is a module named here."""

from __future__ import annotations

import importlib

from tests.redteam.rows import Layer, Row

MODULES = (
    "rows_files",
    "rows_metadata",
    "rows_network",
    "rows_broker",
    "rows_processes",
    "rows_memory",
    "rows_senses",
    "rows_life",
    "rows_exhaustion",
    "rows_tree_language",
    "rows_tree_libraries",
)
CONFINES = frozenset({Layer.LANDLOCK, Layer.SECCOMP})


def rows() -> list[Row]:
    """Every row of the table."""
    return [row for module in MODULES for row in importlib.import_module(f"tests.redteam.{module}").ROWS]


def of_the_sandbox(row: Row) -> bool:
    """Whether the row is about running code; those of the tree check alone are judged without."""
    return row.stops != frozenset({Layer.TREE})


def of_the_machine(row: Row) -> bool:
    """Whether who runs it, and on which kernel, may change the row's result."""
    return bool(row.stops & CONFINES) or not row.stops
