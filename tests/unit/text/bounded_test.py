from autopilot.text.bounded import forget, remember


def test_of_many_values_the_newest_are_remembered() -> None:
    memory: dict[int, str] = {}
    for number in range(10):
        assert remember(memory, number, f"value {number}", most=3) == f"value {number}"

    assert list(memory) == [7, 8, 9]
    forget(memory, 1)
    assert memory == {9: "value 9"}
