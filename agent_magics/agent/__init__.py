"""The agent: one turn after another, told by the loop and kept by the session.

Here live the loop and everything that decides about a turn. The world (models, tools that touch it, people,
files, screens) comes in through :mod:`agent_magics.ports`; nothing here knows Jupyter or a vendor.

==============  ================================================================
``loop``        the story of one turn; start here
``session``     what a person holds: conversation, provider, toolbox, policy
``reply``       one request to the model, played and collected
``rounds``      one round of tool calls, and the caps on rounds
``permission``  the door between a call and its tool: policy, then perhaps a person
``policy``      allow, ask or refuse; pure
``context``     what the model is sent: rules, history, the running turn
``line``        one turn at a time: prompts wait, and can be taken back
``telling``     events: kept, then shown to everybody who watches
``waiting``     how a caller waits for its turn
``background``  the one event loop on the one background thread
``commands``    the slash commands, shared by notebook and terminal
==============  ================================================================
"""
