"""What a person sees: the live panel, its settled output, and lines for terminals.

Everything here is made from the words of :mod:`agent_magics.talk`: events are played, turns are rendered.
Nothing here knows the loop, the kernel or IPython; who shows a panel hands it a function that publishes, and
says what answers mean. What a model or a tool says is never trusted: it passes :mod:`~agent_magics.ui.text`
or :mod:`~agent_magics.ui.markdown` before it is shown anywhere.

===============  ===============================================================================
``text``         text from elsewhere made fit to show      ``markdown``   Markdown -> clean HTML
``words``        what states are called                    ``unfinished`` Markdown while it arrives
``fields``       arguments and results by name             ``portable``   Markdown safe everywhere
``rows``         one line and its fold                     ``look``       the tokens; ``dress``: answers
``panel``        the live panel: ``head``, ``flow``, ``fold``, ``growing``, ``approval``, ``widgets``
``settled``      a turn that has ended, as a MIME bundle   ``report``     a command's reply as one
``plain``        a turn as lines, for terminals            ``trace``      where the time went; ``timeline``
===============  ===============================================================================
"""
