/**
 * Comparison of a contestant's outputs with the reference's. Times of different results cannot be compared.
 */
import { byteLength, decodeTensorData } from "@nnhal/backend";
import { type TensorShape, tensorText } from "@nnhal/network/tensors";
import type { AnyTensorData } from "@nnhal/operations";
import type { TensorDescription } from "@nnhal/tflite";

/** Distance of the outputs of a contestant from those of the reference. */
export interface Agreement {
  readonly agrees: boolean;
  /** The greatest difference of an element: in steps of quantised types, else in real values. Infinity if they cannot be compared. */
  readonly difference: number;
  /** Allowed difference of an element. */
  readonly allowed: number;
  readonly unit: "steps" | "absolute";
  /** Which output differs, and how. Empty if they agree. */
  readonly reason: string;
}

/**
 * Allowed differences: engines add up floats in another order, and round at other points inside a quantised network. Floats:
 * this share of the greatest absolute value of the reference's output, or of 1 if that is less.
 */
const floatShare = { TENSOR_FLOAT32: 1e-4, TENSOR_FLOAT16: 2e-3 };
const quantisedSteps = 3;

/** Compares outputs with the reference's. `outputs`: what the network says of them; shapes may be open. */
export function agreementOf(
  outputs: readonly TensorDescription[],
  expected: readonly Uint8Array[],
  actual: readonly Uint8Array[],
): Agreement {
  if (actual.length !== outputs.length) {
    return disagree("absolute", `it has ${actual.length} outputs, and the reference has ${outputs.length}`);
  }
  let worst: Agreement | undefined;
  for (const [place, info] of outputs.entries()) {
    const found = compare(info, expected[place] ?? new Uint8Array(), actual[place] ?? new Uint8Array());
    if (worst === undefined || excess(found) > excess(worst)) worst = found;
  }
  return worst ?? { agrees: true, difference: 0, allowed: 0, unit: "absolute", reason: "" };
}

/** The worse one of two. */
export function worse(one: Agreement, other: Agreement): Agreement {
  return excess(other) > excess(one) ? other : one;
}

function excess({ difference, allowed }: Agreement): number {
  return difference === 0 ? 0 : difference / Math.max(allowed, Number.MIN_VALUE);
}

function compare(info: TensorDescription, expected: Uint8Array, actual: Uint8Array): Agreement {
  const { type, scale } = info;
  const isQuantised = scale !== 0;
  const unit = isQuantised ? "steps" : "absolute";
  if (actual.length !== expected.length) {
    return disagree(
      unit,
      `${tensorText(info)} has ${actual.length} bytes, and that of the reference ${expected.length}`,
    );
  }
  // The shape may be open until the network runs.
  const count = expected.length / byteLength(type, 1);
  const [wanted, got] = [elements(info, expected, count), elements(info, actual, count)];
  let difference = 0;
  let at = 0;
  let greatest = 0;
  for (let index = 0; index < count; index++) {
    const [a, b] = [wanted[index] ?? 0, got[index] ?? 0];
    greatest = Math.max(greatest, Number.isFinite(a) ? Math.abs(a) : 0);
    // Equal infinities agree, and so do two NaN; one NaN differs from everything.
    const distance = Object.is(a, b) || a === b ? 0 : Math.abs(a - b);
    if (Number.isNaN(distance) || distance > difference) {
      difference = Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
      at = index;
    }
  }
  const share = type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16" ? floatShare[type] : 0;
  const allowed = isQuantised ? quantisedSteps : share * Math.max(1, greatest);
  const agrees = difference <= allowed;
  const by = `${Number(difference.toPrecision(3))}${isQuantised ? " steps" : ""}`;
  const reason = agrees
    ? ""
    : `element ${at} of ${tensorText(info)} is ${got[at]}, ${by} from ${wanted[at]}; at most ${Number(allowed.toPrecision(3))} is allowed`;
  return { agrees, difference, allowed, unit, reason };
}

function elements({ type }: TensorShape, bytes: Uint8Array, count: number): Float64Array {
  const data = decodeTensorData(type, bytes, count) as AnyTensorData;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return Float64Array.from(data, Number);
  return Float64Array.from(data);
}

function disagree(unit: Agreement["unit"], reason: string): Agreement {
  return { agrees: false, difference: Number.POSITIVE_INFINITY, allowed: 0, unit, reason };
}
