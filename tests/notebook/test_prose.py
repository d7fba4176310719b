"""Lines of prose that IPython must not take for something else."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from agent_magics.notebook.prose import Prose, keep_prose


@pytest.fixture
def transformed():
    manager = TransformerManager()
    manager.cleanup_transforms.append(keep_prose)
    manager.token_transformers.append(Prose)
    return manager.transform_cell


def line(prompt: str) -> str:
    return f"get_ipython().run_line_magic('agent', {prompt!r})\n"


@pytest.mark.parametrize(
    "prompt",
    [
        "how big is df?",
        "what's up?",
        "is it (really?",
        "who?? me?",
        'what does """ mean?',
        "what is df.shape?",
        "df?",
        "what is up",
        "is x = 5?",
    ],
)
def test_a_prompt_reaches_the_magic_word_for_word(transformed, prompt):
    assert line(prompt) == transformed(f"%agent {prompt}")


@pytest.mark.parametrize("cell", ["%agent?", "%agent??", "%%agent?"])
def test_a_bare_question_mark_is_a_request_for_help(transformed, cell):
    assert "pinfo" in transformed(cell)


def test_prompts_stand_between_python_and_in_blocks(transformed):
    cell = "x = 1\nif x:\n    %agent how big?\n%agent and now?\ny = 2\n"
    expected = f"x = 1\nif x:\n    {line('how big?')}{line('and now?')}y = 2\n"
    assert expected == transformed(cell)


@pytest.mark.parametrize(
    "cell",
    ['text = """\n%agent how big?\n"""\n', "agent = 3\n", "x = 5 %agent\n", "%%writefile a\n%agent how?\n"],
)
def test_text_that_only_looks_like_it_stays_as_it_is(transformed, cell):
    assert "'how big?'" not in transformed(cell)
    assert "run_line_magic('agent'" not in transformed(cell)


def test_a_cell_with_all_of_its_prompt_on_its_first_line_gets_a_body(transformed):
    expected = "get_ipython().run_cell_magic('agent', 'how big is df?', '\\n')\n"
    assert expected == transformed("%%agent how big is df?")
    assert expected == transformed("%%agent how big is df?\n\n  \n")
    assert "run_cell_magic('agent', '', '\\n')" in transformed("%%agent")


def test_a_cell_with_a_body_is_left_to_ipython(transformed):
    cell = "%%agent --into x\n  is it {so}?\n%agent too?\n"
    assert (
        "get_ipython().run_cell_magic('agent', '--into x', '  is it {so}?\\n%agent too?\\n')\n"
        == transformed(cell)
    )


def test_cells_of_other_magics_and_empty_cells_are_left_alone(transformed):
    assert "\n" == transformed("\n")
    assert "run_cell_magic('agents'" in transformed("%%agents x\ny\n")
