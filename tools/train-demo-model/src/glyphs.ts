/**
 * Handwritten forms of the ten digits: for each, a few forms; each form is a list of pen strokes; each stroke is a list of
 * points that a smooth curve runs through. A corner ends one curve and starts the next.
 */

/** The box is [0, 1] wide and high, y down. */
export interface GlyphPoint {
  x: number;
  y: number;
  corner: boolean;
}
export type Glyph = readonly (readonly GlyphPoint[])[];

/** Each stroke as "x,y x,y …" in hundredths of the box; an exclamation mark makes a corner. */
const glyph = (...strokes: readonly string[]): Glyph =>
  strokes.map((stroke) =>
    stroke.split(" ").map((point) => {
      const [x, y] = point.replace("!", "").split(",").map(Number);
      return { x: x / 100, y: y / 100, corner: point.endsWith("!") };
    }),
  );

/** The forms of each digit, by digit. */
export const GLYPHS: readonly (readonly Glyph[])[] = [
  [
    glyph("58,1 20,12 2,50 18,88 50,100 82,88 98,50 82,12 46,2"),
    glyph("50,0 24,16 16,52 28,90 52,100 76,86 84,46 70,10 44,1"),
  ],
  [
    glyph("52,0 50,50 49,100"),
    glyph("24,27 42,15 56,0! 56,50 55,100"),
    glyph("24,25 42,13 54,0! 53,50 53,100", "18,100 86,99"),
  ],
  [
    glyph("7,26 22,5 54,0 86,16 83,42 50,70 4,100! 50,98 96,99"),
    glyph("8,24 25,4 56,0 85,17 80,45 50,76 20,98 3,90 20,78 52,94 96,95"),
  ],
  [
    glyph("9,14 40,0 80,11 80,36 40,47! 80,54 94,77 66,98 28,98 4,82"),
    glyph("10,1 50,0 88,1! 66,20 44,39! 80,46 95,70 72,97 32,99 4,86"),
  ],
  [
    glyph("24,2 16,30 6,57! 50,57 97,55", "70,22 68,60 66,100"),
    glyph("70,0! 36,34 3,67! 50,67 99,66", "70,0 70,50 70,100"),
  ],
  [
    glyph("90,0 55,1 20,1! 16,22 12,44! 48,36 86,48 92,74 66,97 30,99 4,87"),
    glyph("22,3! 18,22 14,43! 48,36 86,50 90,76 62,98 28,98 5,86", "22,3 60,2 94,0"),
  ],
  [
    glyph("76,2 40,20 13,56 18,88 52,100 86,86 84,60 52,50 17,70"),
    glyph("34,0 17,34 11,70 28,95 58,100 88,84 82,60 50,54 15,74"),
  ],
  [glyph("5,2 50,1 95,1! 62,46 38,100"), glyph("5,3 50,1 94,1! 62,48 42,100", "26,51 86,48")],
  [
    glyph("84,14 50,0 17,17 30,40 70,57 90,80 50,100 10,80 30,57 70,40 84,16"),
    glyph("52,0 20,8 16,34 50,46 84,34 80,8 48,0", "50,46 12,58 10,88 50,100 90,88 88,58 50,46"),
  ],
  [
    glyph("85,20 52,0 16,14 13,40 45,52 80,38 87,16! 84,55 78,100"),
    glyph("84,22 54,0 18,12 12,38 42,52 76,40 88,16 87,60 62,94 20,97"),
  ],
];

export const LABELS: readonly string[] = GLYPHS.map((_, digit) => String(digit));
