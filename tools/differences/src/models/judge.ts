/** The verdict on a result: its elements beside those of TensorFlow Lite. */
import type { DrawnType } from "./draw.ts";
import type { DrawnElements } from "./file.ts";

/** The relation of a result to TensorFlow Lite's. */
export interface Verdict {
  /** `equal`; `close`: floats within the allowance, or quantised elements within one step; `differs`. */
  readonly kind: "equal" | "close" | "differs";
  /** The first difference beyond the allowance. */
  readonly message?: string;
}

/** Floats may differ by these parts of themselves, and of the largest of the tensor. */
const ALLOWANCE = 3e-5;

/** The same for results of 16-bit floats: four of their steps. */
const COARSE_ALLOWANCE = 4 * 2 ** -11;

/** Compares results of an output. `isQuantised`: elements are steps. `isCoarse`: they were floats of 16 bits. */
export function judge(
  type: DrawnType,
  isQuantised: boolean,
  actual: ArrayLike<number | bigint>,
  expected: DrawnElements,
  isCoarse = false,
): Verdict {
  if (actual.length !== expected.length)
    return { kind: "differs", message: `${actual.length} elements, expected ${expected.length}` };
  const isFloat = type === "FLOAT32";
  let largest = 0;
  if (isFloat)
    for (const value of expected)
      if (Number.isFinite(Number(value))) largest = Math.max(largest, Math.abs(Number(value)));
  let kind: Verdict["kind"] = "equal";
  for (let place = 0; place < expected.length; place++) {
    const [ours, theirs] = [actual[place], expected[place]];
    if (ours === theirs || (Number.isNaN(ours) && Number.isNaN(theirs))) continue;
    const [one, other] = [Number(ours), Number(theirs)];
    const difference = Math.abs(one - other);
    const allowed = isFloat
      ? (isCoarse ? COARSE_ALLOWANCE : ALLOWANCE) * (Math.abs(other) + largest)
      : isQuantised
        ? 1
        : 0;
    if (!(difference <= allowed))
      return { kind: "differs", message: `element ${place} is ${ours}, expected ${theirs}` };
    kind = "close";
  }
  return { kind };
}
