"""Who someone is and what they may do: identities, signatures, delegations, policy, TLS.

Law of this package: decisions are plain functions; keys and certificates are read at the edge.
"""
