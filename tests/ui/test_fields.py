import json

from agent_magics.talk import ToolResult
from agent_magics.ui import fields

from .test_panel import words


def result(payload: object, most: int = 2_000, size: int = 0) -> str:
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return words(fields.result(ToolResult(ok=True, text=text, size=size), most)).replace("&quot;", '"')


def test_small_arguments_stand_together_as_json():
    assert 'Arguments { "name" : "trips" , "rows" : 5 }' == words(
        fields.arguments({"name": "trips", "rows": 5})
    )


def test_a_text_of_several_lines_gets_a_block_under_its_name():
    shown = words(fields.arguments({"timeout": 5, "code": "x = 1\nprint(x)"}))

    assert 'Arguments { "timeout" : 5 } code x = 1 print (x)' == shown


def test_no_arguments_are_said_to_be_none():
    assert "No arguments" == words(fields.arguments({}))


def test_a_result_of_one_text_is_that_text():
    assert "Result one two" == result({"result": "one\ntwo", "ok": True})


def test_a_result_of_several_values_is_laid_out_by_name():
    assert 'Result { "rows" : 7 } text a b' == result({"rows": 7, "text": "a\nb", "brief": "7", "ok": True})


def test_a_result_that_is_not_json_is_shown_as_it_is():
    assert "Result &lt;b&gt; [1" == result("<b> [1")


def test_a_cut_result_shows_its_head_and_its_tail():
    cut = {"cut": "The first 4 …", "head": "head", "tail": "tail", "ok": True}

    assert "Result head … tail" == result(cut)


def test_a_long_result_is_capped_and_says_so():
    assert "Result · first 10 of 5,000 characters xxxxxxxxxx…" == result({"result": "x" * 100}, 10, 5_000)


def test_hidden_characters_in_a_result_are_spelled_out():
    assert "Result a⟨U+202E⟩b" == result({"result": "a\u202eb"})
