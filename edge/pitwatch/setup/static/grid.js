// Millimetres on the felt to pixels and back, between the points of a grid that the server computed.

export class Grid {
  constructor(grid) {
    Object.assign(this, grid);
  }

  // The pixel of a felt point, null where the camera cannot see it.
  toPixel([x, y]) {
    const u = (x - this.x0) / this.step, v = (y - this.y0) / this.step;
    const i = Math.min(Math.max(Math.floor(u), 0), this.nx - 2);
    const j = Math.min(Math.max(Math.floor(v), 0), this.ny - 2);
    const at = (a, b) => this.px[b * this.nx + a];
    const corners = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
    if (corners.some((c) => c === null)) return null;
    const [a, b] = [u - i, v - j];
    const weights = [(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b];
    return [0, 1].map((k) => corners.reduce((sum, c, n) => sum + weights[n] * c[k], 0));
  }

  // The felt point under a pixel: from the nearest point of the grid on, by Newton's method.
  toFelt([px, py]) {
    let best = 0, least = Infinity;
    this.px.forEach((p, n) => {
      const d = p === null ? Infinity : (p[0] - px) ** 2 + (p[1] - py) ** 2;
      if (d < least) [best, least] = [n, d];
    });
    if (least === Infinity) return null;
    let x = this.x0 + (best % this.nx) * this.step, y = this.y0 + Math.floor(best / this.nx) * this.step;
    for (let n = 0; n < 12; n++) {
      const [p, px1, py1] = [this.toPixel([x, y]), this.toPixel([x + 2, y]), this.toPixel([x, y + 2])];
      if (!p || !px1 || !py1) return null;
      const [a, b, c, d] = [(px1[0] - p[0]) / 2, (py1[0] - p[0]) / 2, (px1[1] - p[1]) / 2, (py1[1] - p[1]) / 2];
      const det = a * d - b * c;
      if (Math.abs(det) < 1e-9) return null;
      const [ex, ey] = [px - p[0], py - p[1]];
      const [dx, dy] = [(d * ex - b * ey) / det, (a * ey - c * ex) / det];
      [x, y] = [x + dx, y + dy];
      if (Math.hypot(dx, dy) < 0.01) break;
    }
    return [x, y];
  }

  // A path through felt points, as SVG wants it; '' where one of them cannot be seen.
  path(points, closed) {
    const px = points.map((p) => this.toPixel(p));
    if (px.some((p) => p === null)) return '';
    return 'M' + px.map((p) => p.map((v) => v.toFixed(1)).join(' ')).join('L') + (closed ? 'Z' : '');
  }

  ring([x, y], r) {
    return this.path([...Array(49).keys()].map((i) => {
      const a = (i / 48) * 2 * Math.PI;
      return [x + r * Math.cos(a), y + r * Math.sin(a)];
    }), true);
  }
}
