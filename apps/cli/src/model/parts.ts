/**
 * Runs on the parts of a sound that is longer than the input.
 */
import { elementsOfReal, elementTypeOf, realValues } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import type { OutputValue, PreparedRun } from "./execute.ts";
import { runOnce } from "./execute.ts";
import type { PreparedInput } from "./input-file.ts";

/**
 * The outputs for all parts of the inputs, the first of which has been run: means of real numbers. Other outputs, such as class numbers and
 * texts, stay those of the first part.
 */
export async function meanOfParts(
  prepared: PreparedRun,
  inputs: readonly PreparedInput[],
  first: readonly OutputValue[],
): Promise<readonly OutputValue[]> {
  const further = Math.max(0, ...inputs.map(({ furtherParts = [] }) => furtherParts.length));
  if (further === 0) return first;
  const sums = first.map((output) => (isReal(output) ? realValues(output.info, output.bytes) : undefined));
  for (let part = 0; part < further; part++) {
    // An input that has no such part stays as it is.
    const bytes = inputs.map((input) => input.furtherParts?.[part] ?? input.bytes);
    const outputs = await runOnce(prepared, bytes);
    for (const [place, sum] of sums.entries()) {
      const { info, bytes: given } = elementAt(outputs, place);
      if (sum === undefined) continue;
      const values = realValues(info, given);
      for (const at of sum.keys()) sum[at] = elementAt(sum, at) + (values[at] ?? 0);
    }
  }
  return first.map((output, place) => {
    const sum = sums[place];
    return sum === undefined
      ? output
      : {
          ...output,
          bytes: elementsOf(
            output,
            sum.map((each) => each / (further + 1)),
          ),
        };
  });
}

/** True if an output has real numbers: floats, or quantised ones. */
function isReal({ info: { type, scale } }: OutputValue): boolean {
  const elementType = elementTypeOf(type);
  return elementType === "float32" || elementType === "float16" || (elementType !== undefined && scale > 0);
}

function elementsOf({ info: { type, scale, zeroPoint } }: OutputValue, values: Float64Array): Uint8Array {
  const elementType = elementTypeOf(type);
  if (elementType === undefined) throw new RangeError("an output without an element type has no mean");
  const { buffer, byteOffset, byteLength } = elementsOfReal(
    elementType,
    scale > 0 ? { scale, zeroPoint } : undefined,
    values,
  );
  return new Uint8Array(buffer, byteOffset, byteLength);
}
