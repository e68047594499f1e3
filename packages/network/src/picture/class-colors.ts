/**
 * The colors of classes in pictures.
 */

/** Red, green and blue, each 0 to 255. */
export type Color = readonly [number, number, number];

/** A color for each class: neighbours differ. */
export function colorOf(index: number): Color {
  // Hues a golden angle apart never come back to one that was used.
  const hue = ((index * 137.508) % 360) / 60;
  const channel = (place: number) => {
    const at = (place + hue) % 6;
    return Math.round(255 * Math.max(0, Math.min(1, Math.min(at, 4 - at))));
  };
  return [channel(2), channel(0), channel(4)];
}
