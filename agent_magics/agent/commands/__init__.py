"""The slash commands: one small file each, shared by notebook and terminal.

A command takes the session and the words behind its name, and returns Markdown. It prints nothing and draws
nothing; who called it shows the answer.
"""
