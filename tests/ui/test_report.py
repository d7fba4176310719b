from agent_magics.ui.report import report

from .harmless import assert_harmless
from .test_markdown import HOSTILE
from .test_portable import assert_portable


def test_a_reply_is_clean_html_safe_markdown_and_its_own_text():
    made = report("**3** tools\n\n| a |\n|---|\n| `b` |")

    assert "<strong>3</strong>" in made["text/html"]
    assert "**3** tools\n\n| a |\n|---|\n| `b` |" == made["text/markdown"] == made["text/plain"]


def test_a_hostile_reply_acts_nowhere():
    for text in HOSTILE:
        made = report(text)
        assert_harmless(made["text/html"])
        assert_portable(made["text/markdown"])
