"""The vocabulary: what a turn is made of, and the events that tell it.

Here live frozen dataclasses and pure functions over them, with the standard library only. Nothing here
reads a file, opens a connection, draws a widget or knows a vendor.

=============  =====================================================================
``content``    the pieces: tool calls, tool results, tokens, opaque provider blocks
``events``     what is said while a turn runs: deltas (played) and facts (stored)
``turn``       what is left when it has run: turns, steps, calls, the conversation
``fold``       events -> turn, pure; panel, store, trace and tests all use it
``history``    what happens between turns; all facts of a session -> its conversation
``memory``     what the agent was told to remember
``transcript`` turns -> the plain messages that a provider is sent
``codec``      events and turns <-> versioned JSON
=============  =====================================================================
"""

from agent_magics.talk.content import (
    JSON,
    Decision,
    Image,
    Message,
    Opaque,
    Retry,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from agent_magics.talk.events import (
    ApprovalAsked,
    ApprovalGiven,
    Compacting,
    Delta,
    Event,
    Fact,
    Noticed,
    ProviderEvent,
    ReplyReceived,
    RequestSent,
    Retrying,
    Saying,
    StageDone,
    Stop,
    Thinking,
    ToolCalled,
    ToolMade,
    ToolProgress,
    ToolReturned,
    TurnBegan,
    TurnEnded,
)
from agent_magics.talk.fold import advance, fold
from agent_magics.talk.history import (
    ContextChanged,
    ConversationChanged,
    HistoryFact,
    SessionInfo,
    TurnImported,
)
from agent_magics.talk.memory import Memory
from agent_magics.talk.turn import STOPS, Approval, CallRecord, Conversation, Stage, Step, Turn

__all__ = [
    "JSON",
    "STOPS",
    "Approval",
    "ApprovalAsked",
    "ApprovalGiven",
    "CallRecord",
    "Compacting",
    "ContextChanged",
    "Conversation",
    "ConversationChanged",
    "Decision",
    "Delta",
    "Event",
    "Fact",
    "HistoryFact",
    "Image",
    "Memory",
    "Message",
    "Noticed",
    "Opaque",
    "ProviderEvent",
    "ReplyReceived",
    "RequestSent",
    "Retry",
    "Retrying",
    "Saying",
    "SessionInfo",
    "Stage",
    "StageDone",
    "Step",
    "Stop",
    "Thinking",
    "ToolCall",
    "ToolCalled",
    "ToolMade",
    "ToolProgress",
    "ToolResult",
    "ToolReturned",
    "ToolSpec",
    "Turn",
    "TurnBegan",
    "TurnEnded",
    "TurnImported",
    "Usage",
    "advance",
    "fold",
]
