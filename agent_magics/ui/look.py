"""How it looks: the tokens of the design, as inline styles.

Saved output is read in many places: a notebook that is not trusted, an exported page, a code host, a file
viewer. All of them drop style sheets and custom properties, and most keep plain inline values. So what
settles carries its look in literal values that suit light and dark pages alike: no text colour of its
own, lines and washes in translucent grey, dimness as opacity. The live panel shows the same pieces; what
only it needs is in ``panel.css``.
"""

from __future__ import annotations

LINE = "rgba(128,128,128,0.28)"
WASH = "rgba(128,128,128,0.09)"

DIM = "opacity:0.72"
ROOT = "margin:0;max-width:880px;box-sizing:border-box;font-size:13px;line-height:1.5;padding:2px 8px 4px"
HEAD = (
    "font-size:12px;line-height:24px;height:24px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;"
    f"margin:0 0 4px;border-bottom:1px solid {LINE}"
)
RIGHT = f"float:right;margin-left:16px;font-size:12px;line-height:23px;{DIM}"
SUMMARY = (
    "display:list-item;cursor:pointer;font-size:13px;line-height:24px;white-space:nowrap;overflow:hidden;"
    "text-overflow:ellipsis"
)
NAME = "font-size:12.5px;background:none;padding:0;white-space:nowrap"
BODY = f"margin:2px 0 10px 5px;padding:2px 0 2px 14px;border-left:1px solid {LINE}"
THOUGHT = f"max-height:240px;overflow:auto;{DIM}"
LABEL = f"font-size:12px;line-height:18px;margin:6px 0 2px;{DIM}"
PRE = (
    f"margin:0;padding:6px 10px;background:{WASH};border:none;border-radius:3px;font-size:12.5px;"
    "line-height:1.45;max-height:320px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal"
)
TEXT = "font-size:14px;line-height:1.6;padding:10px 0 0;overflow:hidden;overflow-wrap:anywhere"
"""``overflow:hidden``: a formula or a word can't be drawn over what is around the answer."""

BAR = f"margin:8px 0 0;padding:6px 10px;border-left:3px solid {{edge}};background:{WASH};font-size:13px"
BAR_ERROR = BAR.format(edge="rgba(211,47,47,0.8)")
BAR_CALM = BAR.format(edge="rgba(128,128,128,0.6)")
NOTICE = f"font-size:12px;line-height:18px;padding:6px 0 0;{DIM}"

# The timeline. Middle tones: white letters on them, and they themselves on white or black, can be read.
MODEL = "rgb(66,114,180)"
TOOL = "rgb(52,132,96)"
STAGE = "rgb(128,94,176)"
WAIT = "rgb(176,106,16)"
FAILED = "rgb(200,60,60)"
GREY = "rgb(128,128,128)"
