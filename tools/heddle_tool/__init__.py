"""The `heddle` command: measuring, and what else a person does with Heddle besides running programs.

Python 3.11 and its standard library; nothing is installed to use it.
"""
