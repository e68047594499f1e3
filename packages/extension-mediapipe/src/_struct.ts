/** Shared by the operators of pooling and of transposed convolution: C structs as options, padding and activations. */
import { ensure, readStruct, type StoredOptions } from "@nnhal/operations/authoring";

/** The codes of TfLitePadding. */
const SAME = 1;
const VALID = 2;

/** Refuses an operator of a version whose options are not known. */
export function ensureVersion({ version }: Pick<StoredOptions, "version">, newest: number): void {
  ensure(version <= newest, () => `version ${version} is not known, only 1 to ${newest}`);
}

/** Refuses a padding that is neither SAME nor VALID. Returns whether it is SAME. */
export function isSame(padding: number): boolean {
  ensure(padding === SAME || padding === VALID, () => `the padding: expected 1 (SAME) or 2 (VALID), got ${padding}`);
  return padding === SAME;
}

/** Refuses sizes and strides below 1. */
export function ensurePositive(sizes: Readonly<Record<string, number>>): void {
  for (const [name, size] of Object.entries(sizes)) {
    ensure(size >= 1, () => `${name}: expected at least 1, got ${size}`);
  }
}

/** The options of a pooling: TfLitePoolParams, whose further fields a kernel of TensorFlow Lite computes. */
export function readPooling(stored: StoredOptions) {
  ensureVersion(stored, 1);
  return readStruct(stored.bytes, {
    padding: "int32",
    stride_width: "int32",
    stride_height: "int32",
    filter_width: "int32",
    filter_height: "int32",
    activation: "int32",
  });
}

/** Elements before the first of the input that the first window covers. */
export function paddingBefore(extent: number, filter: number, stride: number, windows: number): number {
  return Math.max(0, Math.floor(((windows - 1) * stride + filter - extent) / 2));
}
