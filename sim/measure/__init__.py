"""The report's measurements on real peer processes (figure 4.1), and its whole chapter 4.

Law of this package: it faces the outside, as commands do: it starts processes, reads clocks and
draws.  What is measured is the product as it is shipped; a claim of the report stands beside each
table, with a verdict on it.  Figures of a busy machine say little: commands print the load.
"""
