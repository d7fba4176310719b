"""Small talk: greetings, thanks, what this is, and what it can do with the tools that it was given."""

from __future__ import annotations

import re

from agent_magics.providers.demo.case import Case, Move, Say
from agent_magics.providers.demo.offers import I_AM, abilities, counted, described
from agent_magics.providers.demo.recipes import dates

_GREETING = re.compile(
    r"^(?P<word>hi|hello|hey|hallo|moin|servus|greetings|howdy|bonjour|hola|ciao|"
    r"good (?:morning|afternoon|evening)|guten (?:tag|morgen|abend))\b"
    r"(?:[\s,]+(?:there|you|agent|demo|everyone|all|again))*[\s!.,]*$",
    re.IGNORECASE,
)
_HOW_ARE_YOU = re.compile(
    r"^(?:(?:hi|hello|hey)[\s,!]+)?how are you(?: (?:doing|today))*[\s?!.]*$", re.IGNORECASE
)
_THANKS = re.compile(
    r"^(?:ok(?:ay)?[\s,]+)?(?:many thanks|thank(?:s| you)|thx|danke|merci|great|perfect|nice|cool)"
    r"(?:[\s,]+(?:thanks|thank you|a lot|so much|very much|you|job|work|that helps))*[\s!.]*$",
    re.IGNORECASE,
)
_BYE = re.compile(
    r"^(?:good ?bye|bye(?: bye)?|see you(?: later)?|tschüss|ciao|good night)[\s!.]*$", re.IGNORECASE
)
_ABOUT = re.compile(
    r"\b(?:who|what) are you\b"
    r"|\bare you (?:an? )?(?:ai|llm|model|language model|human|person|bot|robot|real|intelligent)\b"
    r"|\bdescribe yourself\b|\bintroduce yourself\b|\bwhat is this\s*\??$",
    re.IGNORECASE,
)
_ABLE = re.compile(
    r"\bwhat (?:can|could|else can) you (?:do|help)|\bhow can you help\b"
    r"|\bwhat (?:tools|commands) (?:do you have|are there|can you)"
    r"|\b(?:which|list (?:your|the|all)|show (?:me )?(?:your|the|all)) tools\b|^help[\s!.?]*$",
    re.IGNORECASE,
)
_TOOL = re.compile(
    r"^(?:what (?:does|is|can)|explain|describe|how (?:do i use|does))\s+(?:the\s+(?:tool\s+)?)?"
    r"`?(?P<name>\w+)`?"
    r"(?:\s+tool)?(?:\s+(?:do|work|mean|for))?\s*[?.]?$",
    re.IGNORECASE,
)


def talk(case: Case) -> Move | None:
    """Answer small talk, if the prompt is nothing else."""
    text = case.passage.whole.strip()
    if not text:
        return Say(text=f"The prompt is empty. {I_AM}; ask me something, or ask what I can do.")
    if len(text) > 300:
        return None
    if match := _GREETING.match(text):
        greeting = match["word"][:1].upper() + match["word"][1:].lower()
        return Say(
            text=f"{greeting}! {I_AM}. Ask me what I can do.", because=("A greeting, and nothing else.",)
        )
    if _HOW_ARE_YOU.match(text):
        return Say(text=f"{I_AM}, so I am as I always am: the same prompt gets the same answer.")
    if _THANKS.match(text):
        return Say(text="You're welcome.")
    if _BYE.match(text):
        return Say(text="Goodbye! Nothing of this stays with me: what I know is what I am sent.")
    tools = case.situation.tools
    if _ABLE.search(text):
        return Say(text=abilities(tools), because=("They ask what I can do: I list my tools.",))
    if _ABOUT.search(text):
        how = "rules read the prompt, the history and the list of tools, and compute each answer from them"
        return Say(text=f"{I_AM}: {how}. {counted(tools)}")
    asked = _TOOL.match(text)
    if asked and (tool := case.situation.tool(asked["name"])):
        return Say(text=described(tool), because=("They ask about a tool, not for it.",))
    if today := dates.asked_today(text, case.today):
        return Say(text=today, because=("The date was told to me; I have no clock.",))
    return None
