"""Stores which repositories the user trusts, and to exactly what of each they agreed."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.authority.surface import AgreedPart, Surface, agreed
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.errors import StorageFailed
from autopilot.domain.value import Value

FILE = "trust.json"
SCHEMA = 1


class Checkout(Value, frozen=True, kw_only=True):
    """A project's folder, and the git folder behind it: another repository at the same path is another one."""

    root: str
    device: int
    inode: int


class TrustedCheckout(Value, frozen=True, kw_only=True):
    checkout: Checkout
    at: str
    parts: dict[str, AgreedPart]


class TrustBook(Value, frozen=True, kw_only=True):
    schema: int = SCHEMA
    repositories: tuple[TrustedCheckout, ...] = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """`trust.json` in the user's folder."""

    folder: UserFolder

    def find(self, checkout: Checkout) -> TrustedCheckout | None:
        return next((known for known in self._read().repositories if known.checkout == checkout), None)

    def keep(self, checkout: Checkout, surface: Surface, at: str) -> None:
        """The user agreed to all of it, which is on disk when this returns. What they agreed to before is gone."""
        self._replace(checkout, TrustedCheckout(checkout=checkout, at=at, parts=agreed(surface)))

    def revoke(self, checkout: Checkout) -> bool:
        """Whether there was anything to take back. Whatever was at this path before loses its trust as well."""
        known = any(other.checkout.root == checkout.root for other in self._read().repositories)
        if known:
            self._replace(checkout, None)
        return known

    def _replace(self, checkout: Checkout, fresh: TrustedCheckout | None) -> None:
        with self.folder.locked(FILE):
            others = (known for known in self._read().repositories if known.checkout.root != checkout.root)
            kept = (known for known in others if Path(known.checkout.root).is_dir())
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
