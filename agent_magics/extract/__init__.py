"""Structured extraction: a text and a schema in, plain dicts and lists out.

Whatever a provider promises, the user's own schema decides at the end. Nothing here knows a vendor, a
notebook or a session: providers say how they can be held to a schema, and the loop asks :class:`Answer`
whether a reply will do.

===========  ====================================================================
``schema``   any way to write a schema -> :class:`Schema`
``short``    the short form, ``name, age int, tags [str]``
``wrapping`` an object around what is none
``formats``  the formats that are checked
``outline``  a schema in a few words
``held``     a provider that is held to a schema: by its API, by a tool, in words
``reading``  a reply's text -> the one JSON value in it
``answer``   is it one? if not, what is the model told
``ask``      the whole for one text
===========  ====================================================================
"""

from agent_magics.extract.ask import Extracted, ask_once
from agent_magics.extract.schema import Schema

__all__ = ["Extracted", "Schema", "ask_once"]
