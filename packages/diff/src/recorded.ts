/** A judge that does not compute: values that something else has computed, in the types of the model or in others. */
import {
  byteLength,
  clamp,
  createData,
  elementAt,
  encodeTensorData,
  integerRange,
  isExtensionType,
  isFloat,
  roundHalfAway,
} from "@nnhal/operations";
import type { Compared } from "./allowance.ts";
import { realValuesOf } from "./difference.ts";
import type { Engine, TensorValue } from "./prepared-part.ts";
import type { JudgeValue, RecordedValue } from "./values.ts";

/** Values that something else has computed. */
export interface RecordedValues {
  /** The value of an operand of the main subgraph in a run; undefined: it is not known. Asked for in the order of the operations. */
  recordedValue(operand: number, run: number): Promise<RecordedValue | undefined>;
  /** Computes results that are not known, from what is. Default: they are not compared, nor the operations that read them. */
  readonly engine?: Engine | undefined;
}

/** A recorded value in the type of the operand. `as`: how the operand is held; undefined: its type is not known. */
export function inTypeOf(as: Compared | undefined, value: RecordedValue): JudgeValue {
  if (value.as === undefined || as === undefined) return { bytes: value.bytes, dimensions: value.dimensions };
  return { ...convertValue(value, value.as, as), recorded: value };
}

/** A value in another type of the HAL: rounded to the nearest element, and held at the ends of its range. */
export function convertValue(value: TensorValue, from: Compared, to: Compared): TensorValue {
  const { type, scale, zeroPoint } = to;
  if (isExtensionType(type)) throw new TypeError(`expected a type of the HAL to convert to, got ${type.name}`);
  const real = realValuesOf(from, value);
  const elements = createData(type, real.length);
  const range = isFloat(type) ? undefined : integerRange(type);
  for (let index = 0; index < real.length; index++) {
    const element = elementAt(real, index);
    elements[index] =
      range === undefined
        ? element
        : clamp(roundHalfAway(scale > 0 ? element / scale + zeroPoint : element) || 0, ...range);
  }
  const bytes = new Uint8Array(byteLength(type, real.length));
  encodeTensorData(type, elements, bytes);
  return { bytes, dimensions: value.dimensions };
}
