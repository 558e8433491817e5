"""Text as our own SQL tree.

statements.py calls the parser library; the other files read its tree through `Node`, and refuse
what they do not know.
"""
