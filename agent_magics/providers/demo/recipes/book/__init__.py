"""The recipe book: each function in here is a whole tool, and is handed out as it stands.

So each is complete in itself: it takes and returns what JSON can hold, uses nothing but the standard modules
that it names, has no underscore attributes, guards against what it can't do, and says in its docstring what
it counts as what. Its examples run.
"""
