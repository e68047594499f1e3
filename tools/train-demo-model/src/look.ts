/**
 * The look of a picture: the sheet (its colour, lines, light and grain) and the ink on it. A few kinds that people know, and
 * free mixtures of any two colours that differ enough in brightness, so that the network learns the shape and not the material.
 */
import type { PenStyle } from "./pen.ts";
import type { Random } from "./random.ts";

/** Red, green and blue, 0 … 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** Printed lines. Spacing and width in units of the picture's side, phase in spacings. */
export interface Rules {
  colour: Colour;
  spacing: number;
  phase: number;
  width: number;
  opacity: number;
  grid: boolean;
}

export interface Look {
  sheet: Colour;
  ink: Colour;
  pen: PenStyle;
  /** Part of the ink missing where its grain is strongest: 0 for a marker, high for chalk. */
  inkGrain: number;
  /** Strength of the sheet's own grain, in grey levels. */
  sheetGrain: number;
  /** Change of light across the picture, in grey levels, and its direction. */
  light: { strength: number; angle: number };
  rules: Rules | undefined;
  /** Width of the edge between ink and sheet, in units of the picture's side; wide means out of focus. */
  softness: number;
  /** Standard deviation of independent noise in every sample, in grey levels. */
  noise: number;
}

/** Brightness as the eye weighs it (Rec. 601). */
export const brightness = ([red, green, blue]: Colour): number => 0.299 * red + 0.587 * green + 0.114 * blue;

/** Ink and sheet differ at least this much in brightness. */
export const MINIMUM_CONTRAST = 60;

export const LOOK_NAMES = ["ballpoint", "pencil", "marker", "chalk", "brush", "mixture"] as const;
export type LookName = (typeof LOOK_NAMES)[number];

interface Material {
  sheets: readonly Colour[];
  inks: readonly Colour[];
  radius: readonly [low: number, high: number];
  pressure: number;
  inkGrain: readonly [low: number, high: number];
  sheetGrain: readonly [low: number, high: number];
  rules: readonly ("lines" | "grid" | "none")[];
}

const PAPERS: readonly Colour[] = [
  [250, 248, 240],
  [244, 240, 226],
  [238, 243, 248],
  [252, 246, 214],
];

const MATERIALS: Record<Exclude<LookName, "mixture">, Material> = {
  ballpoint: {
    sheets: PAPERS,
    inks: [
      [28, 52, 138],
      [22, 26, 38],
      [168, 28, 42],
      [20, 96, 72],
    ],
    radius: [0.018, 0.03],
    pressure: 0.15,
    inkGrain: [0, 0.15],
    sheetGrain: [0, 4],
    rules: ["lines", "grid", "none"],
  },
  pencil: {
    sheets: PAPERS,
    inks: [
      [70, 70, 76],
      [96, 92, 96],
      [52, 54, 62],
    ],
    radius: [0.016, 0.032],
    pressure: 0.25,
    inkGrain: [0.2, 0.5],
    sheetGrain: [2, 7],
    rules: ["lines", "grid", "none", "none"],
  },
  marker: {
    sheets: [
      [255, 255, 255],
      [255, 232, 120],
      [255, 196, 210],
      [190, 236, 200],
      [186, 220, 250],
    ],
    inks: [
      [16, 18, 24],
      [196, 20, 48],
      [24, 72, 190],
      [12, 110, 64],
      [116, 30, 140],
    ],
    radius: [0.034, 0.058],
    pressure: 0.08,
    inkGrain: [0, 0.06],
    sheetGrain: [0, 2],
    rules: ["none"],
  },
  chalk: {
    sheets: [
      [40, 72, 58],
      [46, 52, 56],
      [30, 56, 84],
    ],
    inks: [
      [238, 240, 232],
      [250, 226, 130],
      [248, 180, 192],
      [172, 216, 244],
    ],
    radius: [0.028, 0.048],
    pressure: 0.2,
    inkGrain: [0.35, 0.7],
    sheetGrain: [3, 9],
    rules: ["none"],
  },
  brush: {
    sheets: [
      [214, 184, 140],
      [236, 222, 190],
      [226, 210, 200],
    ],
    inks: [
      [34, 24, 22],
      [120, 24, 24],
      [28, 40, 64],
    ],
    radius: [0.036, 0.06],
    pressure: 0.42,
    inkGrain: [0.02, 0.2],
    sheetGrain: [2, 8],
    rules: ["none"],
  },
};

const anyColour = (random: Random): Colour => [random.integer(256), random.integer(256), random.integer(256)];

/** Two random colours, drawn again until they differ enough. */
function contrastingColours(random: Random): [Colour, Colour] {
  for (;;) {
    const pair: [Colour, Colour] = [anyColour(random), anyColour(random)];
    if (Math.abs(brightness(pair[0]) - brightness(pair[1])) >= MINIMUM_CONTRAST) return pair;
  }
}

function chooseRules(random: Random, kind: "lines" | "grid" | "none"): Rules | undefined {
  if (kind === "none") return undefined;
  return {
    colour: random.pick<Colour>([
      [120, 160, 210],
      [150, 170, 190],
      [210, 150, 150],
    ]),
    spacing: kind === "grid" ? random.between(0.13, 0.25) : random.between(0.18, 0.4),
    phase: random.next(),
    width: random.between(0.004, 0.01),
    opacity: random.between(0.25, 0.6),
    grid: kind === "grid",
  };
}

/** A random look of the given kind. */
export function chooseLook(random: Random, name: LookName): Look {
  const material = MATERIALS[name === "mixture" ? random.pick(["pencil", "marker", "chalk", "brush"] as const) : name];
  const [sheet, ink] =
    name === "mixture" ? contrastingColours(random) : [random.pick(material.sheets), random.pick(material.inks)];
  return {
    sheet,
    ink,
    pen: { radius: random.between(...material.radius), pressure: material.pressure },
    inkGrain: random.between(...material.inkGrain),
    sheetGrain: random.between(...material.sheetGrain),
    light: { strength: random.between(0, 28), angle: random.between(0, 2 * Math.PI) },
    rules: chooseRules(random, random.pick(material.rules)),
    softness: random.chance(0.5) ? random.between(0.004, 0.015) : random.between(0.015, 0.05),
    noise: random.chance(0.5) ? random.between(0, 3) : random.between(3, 12),
  };
}
