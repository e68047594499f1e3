/**
 * A sketch is one digit on one sheet, as geometry and materials; render samples it at any size. Sampling a sketch
 * directly at the network's input size and sampling it large and then shrinking it with bilinear taps look alike to
 * the network, so training can draw small pictures (fast) while users give large ones.
 */
import { GLYPHS } from "./glyphs.ts";
import { type Colour, chooseLook, LOOK_NAMES, type Look, type LookName, type Rules } from "./look.ts";
import { type Capsule, write } from "./pen.ts";
import { mix32, type Random } from "./random.ts";

export interface Sketch {
  digit: number;
  look: Look;
  capsules: Capsule[];
  /** Chooses the grain and the noise. */
  seed: number;
}

/** Red, green, blue bytes, row by row. */
export interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}

/** Draws the given digit with everything else left to chance. */
export function sketchDigit(random: Random, digit: number, name: LookName = random.pick(LOOK_NAMES)): Sketch {
  const look = chooseLook(random, name);
  const capsules = write(random.pick(GLYPHS[digit]), look.pen, random);
  return { digit, look, capsules, seed: random.integer(2 ** 32) };
}

/** Distance from the edge of the ink (negative inside), for every pixel near it; Infinity elsewhere. */
function distanceField(capsules: readonly Capsule[], size: number, reach: number): Float32Array {
  const field = new Float32Array(size * size).fill(Number.POSITIVE_INFINITY);
  for (const { x0, y0, r0, x1, y1, r1 } of capsules) {
    const margin = Math.max(r0, r1) + reach;
    const left = Math.max(0, Math.floor((Math.min(x0, x1) - margin) * size));
    const right = Math.min(size - 1, Math.ceil((Math.max(x0, x1) + margin) * size));
    const top = Math.max(0, Math.floor((Math.min(y0, y1) - margin) * size));
    const bottom = Math.min(size - 1, Math.ceil((Math.max(y0, y1) + margin) * size));
    const [dx, dy] = [x1 - x0, y1 - y0];
    const lengthSquared = dx * dx + dy * dy;
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const px = (column + 0.5) / size - x0;
        const py = (row + 0.5) / size - y0;
        const along = lengthSquared === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / lengthSquared));
        const [offX, offY] = [px - along * dx, py - along * dy];
        const distance = Math.sqrt(offX * offX + offY * offY) - (r0 + along * (r1 - r0));
        const index = row * size + column;
        if (distance < field[index]) field[index] = distance;
      }
    }
  }
  return field;
}

const smoothStep = (value: number): number => {
  const t = Math.min(1, Math.max(0, value));
  return t * t * (3 - 2 * t);
};

/** The random value of one lattice corner, in [0, 1). */
const latticeValue = (x: number, y: number, seed: number): number =>
  mix32(seed ^ Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1)) / 2 ** 32;

/** Smooth random values in [0, 1] over the plane; cells is the number of lattice cells along the picture's side. */
function valueNoise(x: number, y: number, cells: number, seed: number): number {
  const [gridX, gridY] = [x * cells, y * cells];
  const [cellX, cellY] = [Math.floor(gridX), Math.floor(gridY)];
  const [tx, ty] = [smoothStep(gridX - cellX), smoothStep(gridY - cellY)];
  const top = latticeValue(cellX, cellY, seed) * (1 - tx) + latticeValue(cellX + 1, cellY, seed) * tx;
  const bottom = latticeValue(cellX, cellY + 1, seed) * (1 - tx) + latticeValue(cellX + 1, cellY + 1, seed) * tx;
  return top * (1 - ty) + bottom * ty;
}

/** Returns the part of the printed lines' width that covers a position across them, 0 … 1. */
function lineCover(rules: Rules, position: number, pixel: number): number {
  const turns = position / rules.spacing + rules.phase;
  const distance = Math.abs(turns - Math.round(turns)) * rules.spacing;
  return 1 - smoothStep((distance - rules.width / 2) / pixel + 0.5);
}

/** Returns the part of the point that a printed line covers, 0 … opacity. */
function ruleCover(rules: Rules, x: number, y: number, pixel: number): number {
  const across = lineCover(rules, y, pixel);
  return rules.opacity * (rules.grid ? Math.max(lineCover(rules, x, pixel), across) : across);
}

const GRAIN_CELLS = 100;

/** Samples the sketch at size x size pixels. */
export function render(sketch: Sketch, size: number): Picture {
  const { look, seed } = sketch;
  const pixel = 1 / size;
  const softness = Math.max(look.softness, 1.2 / 160);
  const field = distanceField(sketch.capsules, size, softness);
  const [lightX, lightY] = [
    Math.cos(look.light.angle) * look.light.strength,
    Math.sin(look.light.angle) * look.light.strength,
  ];
  const data = new Uint8Array(size * size * 3);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const index = row * size + column;
      const [x, y] = [(column + 0.5) * pixel, (row + 0.5) * pixel];
      const grain = valueNoise(x, y, GRAIN_CELLS, seed);
      const shade =
        (x - 0.5) * lightX +
        (y - 0.5) * lightY +
        (valueNoise(x, y, GRAIN_CELLS / 2, ~seed) - 0.5) * 2 * look.sheetGrain;
      const rule = look.rules === undefined ? 0 : ruleCover(look.rules, x, y, Math.min(pixel, 0.02));
      const ink = (1 - smoothStep(field[index] / softness + 0.5)) * (1 - look.inkGrain * grain);
      for (let channel = 0; channel < 3; channel++) {
        const ruled = mixChannel(look.sheet, look.rules?.colour ?? look.sheet, channel, rule);
        const value =
          ruled + (look.ink[channel] - ruled) * ink + shade + noiseAt(seed, index * 3 + channel, look.noise);
        data[index * 3 + channel] = Math.min(255, Math.max(0, Math.round(value)));
      }
    }
  }
  return { width: size, height: size, data };
}

const mixChannel = (from: Colour, to: Colour, channel: number, part: number): number =>
  from[channel] + (to[channel] - from[channel]) * part;

/** Independent noise for one sample: the sum of four bytes of a hash, which is close to normal. */
function noiseAt(seed: number, index: number, deviation: number): number {
  if (deviation === 0) return 0;
  const bits = mix32(seed + Math.imul(index, 0x9e3779b9));
  const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24);
  return ((sum - 510) / 147.8) * deviation;
}
