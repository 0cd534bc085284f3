"""How k peers keep the same records: replication, hand-offs, heirs, rivals, anti-entropy.

Law of this package: conversations between peers, over what `meteor.keeping` decides.
`docs/internals/copies.md`; the papers have none of it.
"""

__all__: list[str] = []
