"""How the site is made of these pages: `make docs`."""

import re
from importlib.metadata import version as version_of

from meteor.described import is_inner

project = "Meteor"
author = "The engineers of Meteor"
release = version = version_of("meteor-rendezvous")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["examples", "deploy"]
myst_heading_anchors = 3
# Docstrings are plain sentences with code in single back quotes.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "exclude-members": "__new__, __init__"}
autodoc_preserve_defaults = True
html_theme = "furo"
html_title = "Meteor"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def _show_titles(_app, _document, source):
    """The title of a block, by which the pages are also run, becomes its caption."""
    source[0] = re.sub(
        r'^```(\w+) title="([^"]+)"[^\n]*$', r"```{code-block} \1\n:caption: \2", source[0],
        flags=re.MULTILINE,
    )


def _skip_inner(_app, _what, _name, of, skip, _options):
    """What `dir()` does not show is not for the reference either."""
    return True if is_inner(of) else skip


def setup(app):
    """Hook in; called by Sphinx."""
    app.connect("autodoc-skip-member", _skip_inner)
    app.connect("source-read", _show_titles)
