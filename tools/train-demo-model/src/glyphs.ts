/**
 * How people write the ten digits: for each, a few variants; each variant is a list of pen strokes; each stroke is a list of points
 * that a smooth curve runs through. The box is [0, 1] wide and high, y down. A point marked as a corner ends one curve and starts the next.
 */

export type GlyphPoint = readonly [x: number, y: number, corner?: "corner"];
export type GlyphStroke = readonly GlyphPoint[];
export type Glyph = readonly GlyphStroke[];

const zero: Glyph = [
  [
    [0.58, 0.01],
    [0.2, 0.12],
    [0.02, 0.5],
    [0.18, 0.88],
    [0.5, 1],
    [0.82, 0.88],
    [0.98, 0.5],
    [0.82, 0.12],
    [0.46, 0.02],
  ],
];
const zeroNarrow: Glyph = [
  [
    [0.5, 0],
    [0.24, 0.16],
    [0.16, 0.52],
    [0.28, 0.9],
    [0.52, 1],
    [0.76, 0.86],
    [0.84, 0.46],
    [0.7, 0.1],
    [0.44, 0.01],
  ],
];

const onePlain: Glyph = [
  [
    [0.52, 0],
    [0.5, 0.5],
    [0.49, 1],
  ],
];
const oneFlag: Glyph = [
  [
    [0.24, 0.27],
    [0.42, 0.15],
    [0.56, 0, "corner"],
    [0.56, 0.5],
    [0.55, 1],
  ],
];
const oneBase: Glyph = [
  [
    [0.24, 0.25],
    [0.42, 0.13],
    [0.54, 0, "corner"],
    [0.53, 0.5],
    [0.53, 1],
  ],
  [
    [0.18, 1],
    [0.86, 0.99],
  ],
];

const two: Glyph = [
  [
    [0.07, 0.26],
    [0.22, 0.05],
    [0.54, 0],
    [0.86, 0.16],
    [0.83, 0.42],
    [0.5, 0.7],
    [0.04, 1, "corner"],
    [0.5, 0.98],
    [0.96, 0.99],
  ],
];
const twoLoop: Glyph = [
  [
    [0.08, 0.24],
    [0.25, 0.04],
    [0.56, 0],
    [0.85, 0.17],
    [0.8, 0.45],
    [0.5, 0.76],
    [0.2, 0.98],
    [0.03, 0.9],
    [0.2, 0.78],
    [0.52, 0.94],
    [0.96, 0.95],
  ],
];

const three: Glyph = [
  [
    [0.09, 0.14],
    [0.4, 0],
    [0.8, 0.11],
    [0.8, 0.36],
    [0.4, 0.47, "corner"],
    [0.8, 0.54],
    [0.94, 0.77],
    [0.66, 0.98],
    [0.28, 0.98],
    [0.04, 0.82],
  ],
];
const threeFlat: Glyph = [
  [
    [0.1, 0.01],
    [0.5, 0],
    [0.88, 0.01, "corner"],
    [0.66, 0.2],
    [0.44, 0.39, "corner"],
    [0.8, 0.46],
    [0.95, 0.7],
    [0.72, 0.97],
    [0.32, 0.99],
    [0.04, 0.86],
  ],
];

const fourOpen: Glyph = [
  [
    [0.24, 0.02],
    [0.16, 0.3],
    [0.06, 0.57, "corner"],
    [0.5, 0.57],
    [0.97, 0.55],
  ],
  [
    [0.7, 0.22],
    [0.68, 0.6],
    [0.66, 1],
  ],
];
const fourClosed: Glyph = [
  [
    [0.7, 0, "corner"],
    [0.36, 0.34],
    [0.03, 0.67, "corner"],
    [0.5, 0.67],
    [0.99, 0.66],
  ],
  [
    [0.7, 0],
    [0.7, 0.5],
    [0.7, 1],
  ],
];

const five: Glyph = [
  [
    [0.9, 0],
    [0.55, 0.01],
    [0.2, 0.01, "corner"],
    [0.16, 0.22],
    [0.12, 0.44, "corner"],
    [0.48, 0.36],
    [0.86, 0.48],
    [0.92, 0.74],
    [0.66, 0.97],
    [0.3, 0.99],
    [0.04, 0.87],
  ],
];
const fiveHat: Glyph = [
  [
    [0.22, 0.03, "corner"],
    [0.18, 0.22],
    [0.14, 0.43, "corner"],
    [0.48, 0.36],
    [0.86, 0.5],
    [0.9, 0.76],
    [0.62, 0.98],
    [0.28, 0.98],
    [0.05, 0.86],
  ],
  [
    [0.22, 0.03],
    [0.6, 0.02],
    [0.94, 0],
  ],
];

const six: Glyph = [
  [
    [0.76, 0.02],
    [0.4, 0.2],
    [0.13, 0.56],
    [0.18, 0.88],
    [0.52, 1],
    [0.86, 0.86],
    [0.84, 0.6],
    [0.52, 0.5],
    [0.17, 0.7],
  ],
];
const sixUpright: Glyph = [
  [
    [0.34, 0],
    [0.17, 0.34],
    [0.11, 0.7],
    [0.28, 0.95],
    [0.58, 1],
    [0.88, 0.84],
    [0.82, 0.6],
    [0.5, 0.54],
    [0.15, 0.74],
  ],
];

const seven: Glyph = [
  [
    [0.05, 0.02],
    [0.5, 0.01],
    [0.95, 0.01, "corner"],
    [0.62, 0.46],
    [0.38, 1],
  ],
];
const sevenCrossed: Glyph = [
  [
    [0.05, 0.03],
    [0.5, 0.01],
    [0.94, 0.01, "corner"],
    [0.62, 0.48],
    [0.42, 1],
  ],
  [
    [0.26, 0.51],
    [0.86, 0.48],
  ],
];

const eight: Glyph = [
  [
    [0.84, 0.14],
    [0.5, 0],
    [0.17, 0.17],
    [0.3, 0.4],
    [0.7, 0.57],
    [0.9, 0.8],
    [0.5, 1],
    [0.1, 0.8],
    [0.3, 0.57],
    [0.7, 0.4],
    [0.84, 0.16],
  ],
];
const eightRings: Glyph = [
  [
    [0.52, 0],
    [0.2, 0.08],
    [0.16, 0.34],
    [0.5, 0.46],
    [0.84, 0.34],
    [0.8, 0.08],
    [0.48, 0],
  ],
  [
    [0.5, 0.46],
    [0.12, 0.58],
    [0.1, 0.88],
    [0.5, 1],
    [0.9, 0.88],
    [0.88, 0.58],
    [0.5, 0.46],
  ],
];

const nine: Glyph = [
  [
    [0.85, 0.2],
    [0.52, 0],
    [0.16, 0.14],
    [0.13, 0.4],
    [0.45, 0.52],
    [0.8, 0.38],
    [0.87, 0.16, "corner"],
    [0.84, 0.55],
    [0.78, 1],
  ],
];
const nineCurved: Glyph = [
  [
    [0.84, 0.22],
    [0.54, 0],
    [0.18, 0.12],
    [0.12, 0.38],
    [0.42, 0.52],
    [0.76, 0.4],
    [0.88, 0.16],
    [0.87, 0.6],
    [0.62, 0.94],
    [0.2, 0.97],
  ],
];

/** The variants of each digit, by digit. */
export const GLYPHS: readonly (readonly Glyph[])[] = [
  [zero, zeroNarrow],
  [onePlain, oneFlag, oneBase],
  [two, twoLoop],
  [three, threeFlat],
  [fourOpen, fourClosed],
  [five, fiveHat],
  [six, sixUpright],
  [seven, sevenCrossed],
  [eight, eightRings],
  [nine, nineCurved],
];

export const LABELS: readonly string[] = GLYPHS.map((_, digit) => String(digit));
