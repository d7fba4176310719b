"""``python -m agent_magics`` is ``agent-magics``."""

import sys

from agent_magics.cli import main

sys.exit(main())
