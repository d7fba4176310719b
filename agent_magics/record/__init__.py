"""Records: conversations as files, written and read.

A record is a notebook whose outputs hold their turns as data, or a JSON file of a conversation. Here it is
read, checked and written. Nothing here runs a turn, keeps a session or draws anything: whoever writes a
notebook hands in what a turn looks like.

=============  =====================================================================
``limits``     how much a file may bring, measured before anything is built of it
``reading``    a file -> its turns; refuses what is not a record, and says why
``trust``      what such turns may bring along: text, and no rights
``writing``    turns -> .ipynb, .md, .json; whole or not at all
``matching``   which recorded turn a prompt would repeat, or what differs
=============  =====================================================================
"""
