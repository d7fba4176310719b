"""The notebook: magics, the cell that waits, and what it knows of kernels and front ends.

Here lives everything that imports IPython, and the composition root that puts the other packages
together for a cell. What the panel looks like is in `ui`; what the agent does is in `agent`; neither knows
of the notebook.
"""
