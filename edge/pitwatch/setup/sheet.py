"""The commissioning sheet: what was mounted, what it can judge, who says so, on paper.

In: what was done and two pictures. Out: a PDF of two pages, A4.
"""

from __future__ import annotations

import io
import platform
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from reportlab.lib import colors
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Image, KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from pitwatch import __version__
from pitwatch.errors import UserError
from pitwatch.setup.dealing import card_name
from pitwatch.setup.progress import Progress
from pitwatch.vision.weights import read_manifest

__all__ = ["commissioning_sheet"]

Picture = NDArray[np.uint8]

_GREEN, _AMBER, _RED = colors.HexColor("#dff3e4"), colors.HexColor("#fdf0d0"), colors.HexColor("#fbdcd9")
_GROUND = {"good": _GREEN, "some": _AMBER, "none": _RED}
_INK, _SOFT, _LINE = colors.HexColor("#16211c"), colors.HexColor("#56645d"), colors.HexColor("#c9d3cd")
_WIDTH = A4[0] - 36 * mm - 12  # a frame pads its text by 6 points each side
_BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=9, leading=12, textColor=_INK)
_SMALL = ParagraphStyle("small", parent=_BODY, fontSize=8, leading=10.5)
_HEAD = ParagraphStyle(
    "head", parent=_BODY, fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=9
)
_TITLE = ParagraphStyle("title", parent=_BODY, fontName="Helvetica-Bold", fontSize=18, leading=22)
_RIGHT = ParagraphStyle("right", parent=_BODY, alignment=TA_RIGHT, textColor=_SOFT)
_VERDICTS = {"good": "judged in full", "some": "judged in part", "none": "not judged"}


def commissioning_sheet(progress: Progress, layout_picture: Picture, verdict_picture: Picture) -> bytes:
    """The PDF. The pictures: BGR, the layout and the verdicts over what the camera sees."""
    p = progress
    assert p.source is not None
    assert p.pose is not None
    assert p.check is not None
    assert p.house is not None
    assert p.finish is not None
    out = io.BytesIO()
    name = f"{p.house.site} {p.house.name}"
    document = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=18 * mm,
        rightMargin=18 * mm,
        topMargin=16 * mm,
        bottomMargin=18 * mm,
        title=f"Commissioning sheet {name}",
        author=p.finish.who,
        creator="pitwatch",
    )
    when = p.finish.when.replace("T", " ")[:16]
    story: list[Any] = [
        _title(f"Table {_safe(p.house.name)}", f"Commissioning sheet<br/>{_safe(p.house.site)}, {when}"),
        Spacer(1, 3 * mm),
        _pairs(
            [
                ("Set up by", p.finish.who),
                ("Table, house", f"{p.house.name}, {p.house.site}"),
                ("House rules", _rules(p)),
                ("Camera", _camera(p)),
                ("Source", p.source.spec),
                ("Lens", _lens(p)),
                ("Pose", f"from {p.pose.method}, {p.pose.when.replace('T', ' ')[:16]}"),
                ("Alerts go to", p.house.mqtt or "a broker on this computer"),
                ("Versions", _versions()),
            ]
        ),
        Paragraph("What the camera sees, and where the felt is taken to be", _HEAD),
        Spacer(1, 1.5 * mm),
        _image(layout_picture),
        Paragraph("The camera", _HEAD),
        *_bullets([*p.pose.said, *_controls(p)]),
    ]
    story += [
        KeepTogether(
            [
                Paragraph("What this mounting can judge", _HEAD),
                Spacer(1, 1.5 * mm),
                _verdicts(p.check.rows, {s.place: s.mm for s in p.pose.spread}),
            ]
        ),
        Spacer(1, 2 * mm),
        _image(verdict_picture),
        Paragraph("What would help", _HEAD),
        *_bullets(p.check.advice),
        KeepTogether(
            [
                Paragraph("Test deal", _HEAD),
                *_bullets(_deals(p)),
                Spacer(1, 12 * mm),
                _signatures(p.finish.who),
            ]
        ),
    ]

    def foot(canvas: Any, _: Any) -> None:
        canvas.setFont("Helvetica", 7.5)
        canvas.setFillColor(_SOFT)
        canvas.drawString(18 * mm, 10 * mm, f"pitwatch {__version__}: commissioning sheet of {name}")
        canvas.drawRightString(A4[0] - 18 * mm, 10 * mm, f"page {canvas.getPageNumber()}")

    document.build(story, onFirstPage=foot, onLaterPages=foot)
    return out.getvalue()


def _title(left: str, right: str) -> Table:
    table = Table(
        [[Paragraph(left, _TITLE), Paragraph(right, _RIGHT)]], colWidths=[_WIDTH * 0.6, _WIDTH * 0.4]
    )
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, 0), 1.2, _INK),
                ("VALIGN", (0, 0), (-1, -1), "BOTTOM"),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("RIGHTPADDING", (0, 0), (-1, -1), 0),
            ]
        )
    )
    return table


def _pairs(rows: Sequence[tuple[str, str]]) -> Table:
    body = [[Paragraph(a, _SMALL), Paragraph(_safe(b), _BODY)] for a, b in rows]
    table = Table(body, colWidths=[28 * mm, _WIDTH - 28 * mm])
    table.setStyle(
        TableStyle(
            [
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("TOPPADDING", (0, 0), (-1, -1), 1.2),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.2),
                ("LINEBELOW", (0, 0), (-1, -1), 0.3, _LINE),
            ]
        )
    )
    return table


def _verdicts(rows: Sequence[dict[str, Any]], spread: dict[str, float]) -> Table:
    head = ["place", "cards", "chips", "index", "a chip", "seen at", "± mm", "picture", "verdict"]
    body: list[list[Any]] = [[Paragraph(f"<b>{h}</b>", _SMALL) for h in head]]
    for r in rows:
        sure = spread.get("dealer's cards" if r["seat"] == 0 else r["place"])
        cells = [
            r["place"],
            r["cards"] if r["in_view"] else "not wholly in the picture",
            r["chips_said"] or "-",
            f"{r['index_px']:.1f} px",
            "-" if r["layer_px"] is None else f"{r['layer_px']:.1f} px",
            f"{r['steepness']:.0f}°",
            "-" if sure is None else f"{sure:.1f}",
            ", ".join(r["faults"]) or "good",
            _VERDICTS[r["verdict"]],
        ]
        body.append([Paragraph(_safe(c), _SMALL) for c in cells])
    widths = [w * _WIDTH for w in (0.1, 0.16, 0.1, 0.09, 0.09, 0.09, 0.08, 0.14, 0.15)]
    table = Table(body, colWidths=widths, repeatRows=1)
    style: list[Any] = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.3, _LINE),
        ("LEFTPADDING", (0, 0), (-1, -1), 3),
        ("RIGHTPADDING", (0, 0), (-1, -1), 3),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ]
    style += [("BACKGROUND", (0, i), (-1, i), _GROUND[r["verdict"]]) for i, r in enumerate(rows, 1)]
    table.setStyle(TableStyle(style))
    return table


def _image(picture: Picture) -> Image:
    h, w = picture.shape[:2]
    scale = min(1.0, 1400 / w)
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    data = bytes(cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 85])[1])
    # a page holds the picture whole, however tall it is
    width = min(_WIDTH, 95 * mm * w / h)
    return Image(io.BytesIO(data), width, width * h / w)


def _bullets(lines: Sequence[str]) -> list[Paragraph]:
    return [Paragraph(_safe(line), _BODY, bulletText="–") for line in lines if line.strip()]


def _signatures(who: str) -> Table:
    table = Table(
        [["", "", ""], [f"Set up by: {who}", "", "Accepted by, date"]],
        colWidths=[_WIDTH * 0.45, _WIDTH * 0.1, _WIDTH * 0.45],
    )
    table.setStyle(
        TableStyle(
            [
                ("LINEABOVE", (0, 1), (0, 1), 0.6, _INK),
                ("LINEABOVE", (2, 1), (2, 1), 0.6, _INK),
                ("FONTSIZE", (0, 0), (-1, -1), 8),
                ("TEXTCOLOR", (0, 0), (-1, -1), _SOFT),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
            ]
        )
    )
    return table


def _rules(p: Progress) -> str:
    assert p.house is not None
    h = p.house
    parts = [h.rules, *([f"{h.decks} decks"] if h.decks else [])]
    if h.minimum is not None or h.maximum is not None:
        low = "no minimum" if h.minimum is None else f"from ${h.minimum / 100:,.2f}"
        high = "no maximum" if h.maximum is None else f"to ${h.maximum / 100:,.2f}"
        parts.append(f"wagers {low} {high}")
    return ", ".join(parts)


def _camera(p: Progress) -> str:
    assert p.source is not None
    name = f"{p.source.card} ({p.source.bus})" if p.source.card else "no device"
    return f"{name}, {p.source.width} x {p.source.height} pixels"


def _lens(p: Progress) -> str:
    if p.lens is None or p.lens.skipped:
        return "not calibrated by itself: the focal length follows from the pose"
    return "; ".join(p.lens.said)


def _controls(p: Progress) -> list[str]:
    assert p.source is not None
    if not p.source.controls and not p.source.said:
        return ["exposure, white balance and focus were not locked"]
    locked = [f"{k} = {v}" for k, v in p.source.controls.items()]
    return [*([f"locked: {', '.join(locked)}"] if locked else []), *p.source.said]


def _deals(p: Progress) -> list[str]:
    out = []
    for d in p.deals:
        asked = f"the {card_name(d.card)} on seat {d.seat}"
        if d.seconds is not None:
            out.append(f"{asked}: seen after {d.seconds:.0f} s, {d.confidence:.0%} sure")
        else:
            seen = f", read as the {card_name(d.seen)}" if d.seen else ""
            out.append(f"{asked}: not seen{seen}")
    return out or ["no test deal was made"]


def _versions() -> str:
    try:
        models = ", ".join(f"{n} {w.about['sha256'][:8]}" for n, w in read_manifest().items())
    except (UserError, KeyError, TypeError):
        models = "no weights"
    return f"pitwatch {__version__}, Python {platform.python_version()}, OpenCV {cv2.__version__}; {models}"


def _safe(text: object) -> str:
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
