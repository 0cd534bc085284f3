"""The dashboard at `/`: one page and its script, plain files, no build step, nothing from outside.

Law of this package: files as they are served, and the one module that serves them.
"""
