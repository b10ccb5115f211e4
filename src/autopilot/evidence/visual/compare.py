"""Two pictures of a page compared pixel by pixel, and a third that shows where they differ."""

import io
from typing import TYPE_CHECKING

from autopilot.domain.value import Value

if TYPE_CHECKING:
    from PIL import Image

# What an edge drawn half a pixel further on, or a rounding in a colour, may come to.
TOLERANCE = 24
NEIGHBOURHOOD = 3
# The same browser draws the same page alike to the pixel; a handful is what rounding may leave.
NOISE_PIXELS = 12
FADED = 0.3
RED = (220, 0, 40)


class Comparison(Value, frozen=True, kw_only=True):
    """How many `pixels` differ, and their `share`. `picture` is a PNG with these in red; empty when there are none."""

    pixels: int
    share: float
    picture: bytes = b""
    note: str = ""
    where: str = ""

    @property
    def differs(self) -> bool:
        return self.pixels > NOISE_PIXELS


def compare(before: bytes, after: bytes) -> Comparison | None:
    """None when one of them is no picture that can be read."""
    from PIL import ImageChops

    old, new = _read(before), _read(after)
    if old is None or new is None:
        return None
    if old.size != new.size:
        note = f"the picture is {new.width}x{new.height} and its baseline {old.width}x{old.height}"
        return Comparison(pixels=new.width * new.height, share=1.0, note=note)
    mask = ImageChops.lighter(_outside(old, new), _outside(new, old))
    wrong = mask.histogram()[255]
    share = round(wrong / (mask.width * mask.height), 6)
    box = mask.getbbox()
    if wrong <= NOISE_PIXELS or box is None:
        return Comparison(pixels=wrong, share=share)
    where = f"x {box[0]}-{box[2]}, y {box[1]}-{box[3]}"
    return Comparison(pixels=wrong, share=share, picture=_marked(new, mask), where=where)


def is_blank(picture: bytes) -> bool:
    """Whether every pixel has the same colour."""
    seen = _read(picture)
    return seen is not None and all(low == high for low, high in (band.getextrema() for band in seen.split()))


def _read(content: bytes) -> "Image.Image | None":
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
            return picture.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return None


def _outside(one: "Image.Image", other: "Image.Image") -> "Image.Image":
    """
    White where a pixel of one has a colour that the other has nowhere around the same place.

    An edge that is smoothed differently, or moved by one pixel, stays within the colours around it; a line that is gone
    does not.
    """
    from PIL import ImageChops, ImageFilter

    low, high = other.filter(ImageFilter.MinFilter(NEIGHBOURHOOD)), other.filter(ImageFilter.MaxFilter(NEIGHBOURHOOD))
    excess = ImageChops.lighter(ImageChops.subtract(low, one), ImageChops.subtract(one, high))
    red, green, blue = excess.split()
    strongest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return strongest.point([0] * (TOLERANCE + 1) + [255] * (255 - TOLERANCE))


def _marked(picture: "Image.Image", mask: "Image.Image") -> bytes:
    from PIL import Image

    faded = Image.blend(Image.new("RGB", picture.size, "white"), picture.convert("L").convert("RGB"), FADED)
    faded.paste(RED, mask=mask)
    out = io.BytesIO()
    faded.save(out, format="PNG", optimize=True)
    return out.getvalue()
