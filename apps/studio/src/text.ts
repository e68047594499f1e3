/**
 * Numbers and names as the page writes them.
 */

/** `1×224×224×3`; an extent that is open is `?`, and a scalar `scalar`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "scalar" : shape.map((extent) => (extent < 0 ? "?" : String(extent))).join("×");
}

/** A text of at most `most` letters: the middle is left out, since names differ at both ends. */
export function shorten(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const half = (most - 1) >> 1;
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

const units = ["bytes", "kB", "MB", "GB"];

/** A size in units of 1000: `3.4 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${units[unit]}`;
}

/** A count with its thousands apart: `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString("en-US");
}

/** A count of things: `1 step`, `2,000 steps`. */
export function countOf(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** A number with at most `digits` significant digits, as short as it can be. */
export function numberText(value: number, digits = 5): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  if (!Number.isFinite(value)) return String(value);
  return String(Number(value.toPrecision(digits)));
}

/** Milliseconds with three significant digits: `12.3 ms`, `850 µs`. */
export function timeText(milliseconds: number): string {
  // The clock of a page has steps of up to 0.1 ms.
  if (milliseconds === 0) return "< 100 µs";
  if (milliseconds >= 1000) return `${numberText(milliseconds / 1000, 3)} s`;
  return milliseconds >= 1 ? `${numberText(milliseconds, 3)} ms` : `${numberText(milliseconds * 1000, 3)} µs`;
}

/** A rounded count with a unit: `301 M`. */
export function amountText(amount: number): string {
  const steps: readonly (readonly [number, string])[] = [
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ];
  const step = steps.find(([least]) => amount >= least);
  return step === undefined ? String(amount) : `${numberText(amount / step[0], 3)}${step[1]}`;
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
