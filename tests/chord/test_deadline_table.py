"""Many deadlines under one timer, against a dumb twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chord.deadline_table import STALE_MAX, DeadlineTable

steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.floats(0, 100)),
        st.tuples(st.just("take"), st.integers(0, 60)),
        st.tuples(st.just("expire"), st.floats(0, 100)),
    ),
    max_size=60,
)


@given(steps)
def test_the_table_does_what_a_plain_list_does(drawn: list[tuple[str, float]]) -> None:
    table: DeadlineTable[str] = DeadlineTable()
    twin: dict[int, float] = {}
    for step, value in drawn:
        if step == "add":
            number = table.add(value, f"entry {value}")
            assert number not in twin
            twin[number] = value
        elif step == "take":
            found = table.take(int(value))
            due_s = twin.pop(int(value), None)
            assert found == (None if due_s is None else f"entry {due_s}")
        else:
            due = sorted((due_s, number) for number, due_s in twin.items() if due_s <= value)
            assert table.expire(value) == [f"entry {due_s}" for due_s, _ in due]
            for _, number in due:
                del twin[number]
        assert len(table) == len(twin)
        assert table.next_deadline_s() == min(twin.values(), default=None)
        assert [number for number, _ in table.items()] == list(twin)
        assert all(table.get(number) is not None for number in twin)


def test_settled_entries_do_not_pile_up() -> None:
    table: DeadlineTable[int] = DeadlineTable()
    for i in range(20 * STALE_MAX):
        table.take(table.add(1000.0 + i, i))
    kept = table.add(5.0, -1)
    assert len(table._deadlines) <= 2 * STALE_MAX
    assert table.next_deadline_s() == 5.0
    assert table.get(kept) == -1
