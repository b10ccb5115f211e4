"""Makes instances of stored types from nothing but the types: every field filled, every alternative seen once."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as types

Struct = type[msgspec.Struct]
# What fields take whose text has a shape of its own.
SHAPED = ("0" * 40, "0" * 64, ".planning/PLAN.md", "22:00-07:00")


def structs_of(*roots: Any) -> list[Struct]:
    """Every struct that is reached from the types, each once, sorted by its name."""
    found: dict[Struct, None] = {}
    for root in types.multi_type_info(roots):
        _collect(root, found)
    return sorted(found, key=lambda kind: kind.__name__)


def unions_of(*roots: Any) -> Iterator[tuple[Struct, ...]]:
    """The structs that share a union, wherever one is reached."""
    whole = [*types.multi_type_info(roots), *(types.type_info(kind) for kind in structs_of(*roots))]
    for info in whole:
        for part in _parts(info):
            inner = part.types if isinstance(part, types.UnionType) else ()
            members = tuple(one.cls for one in inner if isinstance(one, types.StructType))
            if len(members) > 1:
                yield members


def instances(kind: Struct) -> Iterator[msgspec.Struct]:
    """As many as show every literal and every member of a union in each field at least once."""
    info = _info(kind)
    for turn in range(max((_count(field.type) for field in info.fields), default=1)):
        filled = {field.encode_name: _value(field.type, field.name, turn) for field in info.fields}
        yield _made(kind, info, filled)


def varied(kind: Struct) -> set[str]:
    """The fields that have more than one of these, by the names they are stored under."""
    return {field.encode_name for field in _info(kind).fields if _count(field.type) > 1}


def _info(kind: Struct) -> types.StructType:
    info = types.type_info(kind)
    assert isinstance(info, types.StructType)
    return info


def _made(kind: Struct, info: types.StructType, filled: dict[str, Any]) -> msgspec.Struct:
    tag = {} if info.tag_field is None else {info.tag_field: info.tag}
    return msgspec.json.decode(msgspec.json.encode({**tag, **filled}), type=kind)


def _collect(info: types.Type, found: dict[Struct, None]) -> None:
    for part in _parts(info):
        if isinstance(part, types.StructType) and part.cls not in found:
            found[part.cls] = None
            for field in part.fields:
                _collect(field.type, found)


def _parts(info: types.Type, within: bool = True) -> Iterator[types.Type]:
    """The type itself and what it is made of, but for the fields of other structs."""
    yield info
    inner: list[types.Type] = []
    match info:
        case types.UnionType():
            inner = list(info.types)
        case types.TupleType():
            inner = list(info.item_types)
        case types.DictType():
            inner = [info.key_type, info.value_type]
        case types.CollectionType():
            inner = [info.item_type]
        case types.StructType() if within:
            inner = [field.type for field in info.fields]
        case _:
            pass
    for part in inner:
        yield from _parts(part, within=False)


def _alternatives(info: types.UnionType) -> list[types.Type]:
    return [part for part in info.types if not isinstance(part, types.NoneType)]


def _count(info: types.Type) -> int:
    match info:
        case types.UnionType():
            return sum(_count(part) for part in _alternatives(info))
        case types.LiteralType():
            return len(info.values)
        case types.TupleType():
            return max((_count(part) for part in info.item_types), default=1)
        case types.DictType():
            return max(_count(info.key_type), _count(info.value_type))
        case types.CollectionType():
            return _count(info.item_type)
    return 1


def _value(info: types.Type, name: str, turn: int) -> Any:  # noqa: C901, PLR0911, PLR0912 - one row per type
    match info:
        case types.StructType():
            return _least(info)
        case types.UnionType():
            turn %= _count(info)
            for part in _alternatives(info):
                if turn < _count(part):
                    return _value(part, name, turn)
                turn -= _count(part)
        case types.LiteralType():
            return info.values[turn % len(info.values)]
        case types.BoolType():
            return True
        case types.IntType():
            return int(_within(info, 3))
        case types.FloatType():
            return _within(info, 2.5)
        case types.StrType():
            return next(text for text in (name, *SHAPED) if re.search(info.pattern or "", text))
        case types.BytesType():
            return b"\x00\xff"
        case types.NoneType():
            return None
        case types.AnyType() | types.RawType():
            return {name: [1, "two", None]}
        case types.TupleType():
            return [_value(part, name, turn) for part in info.item_types]
        case types.DictType():
            return {_value(info.key_type, name, turn): _value(info.value_type, name, turn)}
        case types.CollectionType():
            return [_value(info.item_type, name, turn)]
    raise NotImplementedError(f"{name}: {info}")


def _within(info: types.IntType | types.FloatType, usual: float) -> float:
    """A number that the field allows."""
    if info.ge is not None or info.gt is not None:
        usual = max(usual, info.ge if info.ge is not None else (info.gt or 0) + 1)
    if info.le is not None or info.lt is not None:
        usual = min(usual, info.le if info.le is not None else (info.lt or 0) - 1)
    return usual


def _least(info: types.StructType) -> dict[str, Any]:
    """A struct inside another: only what it must have, for it is shown whole by itself."""
    needed = {field.encode_name: _value(field.type, field.name, 0) for field in info.fields if field.required}
    return needed if info.tag_field is None else {info.tag_field: info.tag, **needed}
