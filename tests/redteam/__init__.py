"""Attacks on what runs generated code, as a table: each with what stops it, and proof that it works.

A row (:class:`.rows.Row`) is an attack, the layers that are expected to stop it *each by itself*, and a
benign twin: the honest thing nearest to it, which must still work. An attack that fails proves nothing by
itself; it may just be broken. So every attack is first run with the walls down, where it must succeed: its
canary.

Adding rows: a module ``rows_<class>.py`` with a list ``ROWS``, named in :data:`.table.MODULES`. Rows of the
tree check have :attr:`.rows.Layer.TREE` among their ``stops``; their sources are judged by ``forge.check``
and, like all others, run with the walls down to show what they would do.

``python -m tests.redteam`` prints the table for this machine; the tests assert it.
"""
