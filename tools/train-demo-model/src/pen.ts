/**
 * Turns a glyph into one particular piece of handwriting: control points wander, the whole is sheared, turned, scaled
 * and placed, curves are drawn through the points, and the pen's width follows a slow random pressure. The result
 * does not depend on pixels.
 */
import type { Glyph, GlyphPoint } from "./glyphs.ts";
import type { Random } from "./random.ts";

/** A round-ended piece of line whose radius goes from r0 to r1. Unit: the side of the square picture. */
export interface Capsule {
  x0: number;
  y0: number;
  r0: number;
  x1: number;
  y1: number;
  r1: number;
}

export interface PenStyle {
  /** Mean radius of the line. */
  radius: number;
  /** Maximum change of the radius by pressure, as a part of it. */
  pressure: number;
}

type Point = readonly [x: number, y: number];

const STEPS_PER_SPAN = 6;

/** Catmull-Rom: the curve through p1 and p2, at t in [0, 1]. */
function catmullRom(p0: number, p1: number, p2: number, p3: number, t: number): number {
  return p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
}

/** Points along smooth curves through a stroke's points; corners stay sharp. */
function trace(stroke: readonly GlyphPoint[]): Point[] {
  const traced: Point[] = [[stroke[0].x, stroke[0].y]];
  for (let index = 0; index + 1 < stroke.length; index++) {
    const from = stroke[index];
    const to = stroke[index + 1];
    const before = index === 0 || from.corner ? from : stroke[index - 1];
    const after = index + 2 === stroke.length || to.corner ? to : stroke[index + 2];
    for (let step = 1; step <= STEPS_PER_SPAN; step++) {
      const t = step / STEPS_PER_SPAN;
      traced.push([catmullRom(before.x, from.x, to.x, after.x, t), catmullRom(before.y, from.y, to.y, after.y, t)]);
    }
  }
  return traced;
}

/** A random affine map from the glyph box to the picture, chosen so that the glyph stays inside. */
function placement(random: Random): (x: number, y: number) => Point {
  const height = random.between(0.5, 0.78);
  const width = height * random.between(0.5, 0.82);
  const shear = random.normal(0.16);
  const angle = random.normal(0.11);
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const slack = (1 - height) / 2;
  const centreX = 0.5 + random.between(-0.8, 0.8) * slack;
  const centreY = 0.5 + random.between(-0.6, 0.6) * slack;
  return (x, y) => {
    const localY = (y - 0.5) * height;
    const localX = (x - 0.5) * width - shear * localY;
    return [centreX + cosine * localX - sine * localY, centreY + sine * localX + cosine * localY];
  };
}

/** Writes the glyph once. */
export function write(glyph: Glyph, style: PenStyle, random: Random): Capsule[] {
  const place = placement(random);
  const wobble = random.between(0.012, 0.04);
  const capsules: Capsule[] = [];
  for (const stroke of glyph) {
    const moved = stroke.map(({ x, y, corner }): GlyphPoint => {
      const [placedX, placedY] = place(x + random.normal(wobble), y + random.normal(wobble));
      return { x: placedX, y: placedY, corner };
    });
    const [phase, frequency] = [random.between(0, 2 * Math.PI), random.between(0.08, 0.25)];
    const radiusAt = (index: number): number =>
      style.radius * (1 + style.pressure * Math.sin(phase + frequency * index));
    const points = trace(moved);
    for (let index = 0; index + 1 < points.length; index++) {
      const [[x0, y0], [x1, y1]] = [points[index], points[index + 1]];
      capsules.push({ x0, y0, r0: radiusAt(index), x1, y1, r1: radiusAt(index + 1) });
    }
  }
  return capsules;
}
