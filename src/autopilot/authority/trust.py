"""Stores which repositories the user trusts, and to exactly what of each they agreed."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.authority.seal import Place
from autopilot.authority.surface import AgreedPart, Surface, agreed
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.errors import StorageFailed
from autopilot.domain.value import Value

FILE = "trust.json"
SCHEMA = 1


class TrustedPlace(Value, frozen=True, kw_only=True):
    """Another git repository in the same folder is another place."""

    place: Place
    at: str
    parts: dict[str, AgreedPart]


class TrustBook(Value, frozen=True, kw_only=True):
    schema: int = SCHEMA
    repositories: tuple[TrustedPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """`trust.json` in the user's folder."""

    folder: UserFolder

    def find(self, place: Place) -> TrustedPlace | None:
        return next((known for known in self._read().repositories if not known.place.difference(place)), None)

    def keep(self, place: Place, surface: Surface, at: str) -> None:
        """The user agreed to all of it, which is on disk when this returns. What else they agreed to before is gone."""
        known = self.find(place)
        self._replace(place, TrustedPlace(place=place, at=at, parts=agreed(surface, known.parts if known else {})))

    def revoke(self, place: Place) -> bool:
        """Whether there was anything to take back. Whatever was at this path before loses its trust as well."""
        known = any(other.place.root == place.root for other in self._read().repositories)
        if known:
            self._replace(place, None)
        return known

    def _replace(self, place: Place, fresh: TrustedPlace | None) -> None:
        with self.folder.locked(FILE):
            others = (known for known in self._read().repositories if known.place.root != place.root)
            kept = (known for known in others if Path(known.place.root).is_dir())
            book = TrustBook(repositories=(*kept, *([fresh] if fresh else [])))
            self.folder.write(FILE, msgspec.json.format(msgspec.json.encode(book), indent=2))

    def _read(self) -> TrustBook:
        held = self.folder.read(FILE)
        if held is None:
            return TrustBook()
        try:
            book = msgspec.json.decode(held, type=TrustBook)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unreadable("it is damaged") from error
        if book.schema != SCHEMA:
            raise self._unreadable("it comes from another version of Autopilot")
        return book

    def _unreadable(self, how: str) -> StorageFailed:
        return StorageFailed(
            f"{self.folder.path / FILE} cannot be read: {how}.",
            why="It says which repositories you trust. Guessing could start commands you never agreed to.",
            do="Move it away. Autopilot then asks again for each repository.",
        )
