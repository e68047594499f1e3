/**
 * Differences from TensorFlow Lite's results, by operator, for the table in docs/tflite.md: the reasons here, and the measured differences of
 * docs/measurements-steps.md.
 */

const kernels = "see [below](#results-that-differ-from-tensorflow-lites)";

/** The reasons of differences that are more than roundings in both directions, and of those that are not measured. */
export const reasons: Readonly<Record<string, string>> = {
  BATCH_MATMUL:
    "INT16 with INT8 matrices, or with a scale for each column: TensorFlow Lite refuses it, or its results are zeros. Ours are the products.",
  BIDIRECTIONAL_SEQUENCE_LSTM: `Merged outputs of several batches: ${kernels}.`,
  BIDIRECTIONAL_SEQUENCE_RNN: `Hybrid, of times by batches: ${kernels}.`,
  CONV_2D: "Hybrid: XNNPACK quantises the input asymmetrically; ours is as TensorFlow Lite's own kernel.",
  DIV: "UINT8: TensorFlow Lite's result is wrong where the quotient is near 0; -1 / 208 becomes the least element there.",
  ELU: "INT8: halves are rounded away from 0, as in the HAL's QUANTIZE; XNNPACK rounds them to even.",
  FULLY_CONNECTED:
    "INT16: the recent build's results are elsewhere; the older one's are ours. Hybrid: XNNPACK quantises the input asymmetrically; ours is as TensorFlow Lite's own kernel.",
  MEAN: "8 bits: halves are rounded away from 0, as the HAL does; TensorFlow Lite's recent build rounds them to even.",
  NEG: "INT8: the real number is negated, and clamped. TensorFlow Lite negates the stored byte whatever the zero points are, and -128 stays -128.",
  TRANSPOSE_CONV: "Float input and 8-bit filter: XNNPACK quantises the input; ours widens the weights.",
  UNIDIRECTIONAL_SEQUENCE_LSTM: `INT8 with peepholes and a projection: ${kernels}.`,
};

/** A row of the table of measured differences from the recent build. */
export interface Measured {
  readonly operator: string;
  readonly type: string;
  /** Per cent of the elements, as text. */
  readonly share: string;
  /** Steps. */
  readonly largest: number;
  /** Steps, ours minus TensorFlow Lite's. */
  readonly mean: number;
}

/** The rows of the table in the document whose results differ from the recent build's. */
export function measuredDifferences(text: string): readonly Measured[] {
  const [, rest = ""] = text.split("<!-- differences: written by `npm run differences -- --write` -->");
  const [table = ""] = rest.split("<!-- end of differences -->");
  return Array.from(
    table.matchAll(/^\| (\w+) \| (\w+) \| ([^|]+) \| (\d+) \| (-?[\d.]+) \|/gm),
    ([, operator = "", type = "", share = "", largest, mean]): Measured => ({
      operator,
      type,
      share,
      largest: Number(largest),
      mean: Number(mean),
    }),
  ).filter(({ largest }) => largest > 0);
}

/** The differences of an operator's results; empty if none are known. */
export function differenceText(operator: string, measured: readonly Measured[]): string {
  const shares = measured
    .filter((row) => row.operator === operator)
    .map(
      ({ type, share, largest }) => `${type} by ${largest === 1 ? "1 step" : `up to ${largest} steps`} in ${share} %`,
    );
  const reason = reasons[operator];
  return [...(shares.length > 0 ? [`${shares.join(", ")}.`] : []), ...(reason === undefined ? [] : [reason])].join(" ");
}
