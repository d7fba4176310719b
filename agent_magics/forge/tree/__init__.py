"""The tree check: may this source become a tool? Read, never run.

A source is judged by its syntax tree alone, and fail closed: a kind of statement, a module, a name that is
not on a list is refused. It is the first of two layers; what slips through meets the sandbox. It can't prove
that code is harmless, but it keeps a tool to the language in which people can read what a tool does: no way
around names, no modules but those listed, no private attributes.

=============  =================================================================================
``judge``      the whole check in this process, in order; start here
``worker``     the same behind a pipe, for :mod:`agent_magics.forge.checking`
``letters``    characters that a reader can't see, or that read as others
``measure``    size and depth, before anything is parsed
``bindings``   what each name of a source stands for
``walk``       the walk over the tree
``calls``      functions and methods that take names, paths or chance as arguments
``hints``      type hints that are text
``words``      the lists of words: nodes, builtins, attributes, special methods
``modules``    the lists of modules and of what they export (``exports.txt``)
``signature``  the function itself, and whether a schema describes it
=============  =================================================================================
"""
