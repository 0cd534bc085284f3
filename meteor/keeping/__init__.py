"""What one peer keeps, and of which intervals it may say that this is all.

Law of this package: decisions and one peer's own state; asks no other peer (`meteor.copies` does).
"""

__all__: list[str] = []
