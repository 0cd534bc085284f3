"""Running peers: settings, metrics, logs, health, discovery.

Law of this package: it looks at a peer from outside; no protocol and no matching.
"""
