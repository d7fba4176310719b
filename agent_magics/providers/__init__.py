"""Models, each behind the one method ``fetch``: where they are found, and how they are spoken to.

Here live the vendors' protocols (one file each: pure encode, pure decode, a thin class), the wire that
carries them, and the registry that finds them by name. Nothing here knows a tool, a session or a screen.

===============  ================================================================
``registry``     names -> providers; ``choose`` picks one for ``auto``
``adapt``        any object with ``fetch`` -> a provider
``wire``         requests out, bytes in; the one importer of httpx
``sse``          bytes -> events
``exchange``     one request with its retries
``failures``     what a vendor's refusal means
``keys``         where keys are found, and how they stay hidden
``settings``     what can be set, and where it comes from
===============  ================================================================
"""

from __future__ import annotations

from agent_magics.providers.adapt import adapt
from agent_magics.providers.registry import Registry, provider

__all__ = ["Registry", "adapt", "provider"]
