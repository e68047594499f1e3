/** The extension: a new operand type, and an operation whose result has it. */
import { defineExtension, defineOperation, ensure, extensionTypes, tensor } from "@nnhal/operations/authoring";

/** A reverse domain name of yours: models and devices find the extension by it. */
const name = "__extension__";

/** The extension data of a TENSOR_FIXED16: value = element / 2^fractionBits. */
export interface Fixed16Params {
  readonly fractionBits: number;
}

/** Fixed-point numbers of 16 bits. */
export const { TENSOR_FIXED16 } = extensionTypes(name, {
  TENSOR_FIXED16: {
    code: 0,
    kind: "tensor",
    array: Int16Array,
    // The bytes of the extension data: one number from 0 to 15.
    params: {
      decode(bytes): Fixed16Params {
        ensure(bytes.length === 1, () => `expected 1 byte of data, got ${bytes.length}`);
        const [fractionBits = 0] = bytes;
        ensure(fractionBits < 16, () => `fractionBits: expected 0 to 15, got ${fractionBits}`);
        return { fractionBits };
      },
      encode: ({ fractionBits }: Fixed16Params) => Uint8Array.of(fractionBits),
    },
  },
});

/** The element for a value: the nearest one, within 16 bits. */
export function toFixed16(value: number, { fractionBits }: Fixed16Params): number {
  return Math.min(32_767, Math.max(-32_768, Math.round(value * 2 ** fractionBits)));
}

export const TO_FIXED16 = defineOperation({
  name: "TO_FIXED16",
  code: 0,
  summary: "Fixed-point numbers from real ones.",
  params: [tensor("input", "TENSOR_FLOAT32")],
  outputs: [tensor("output", TENSOR_FIXED16)],
  // One row for each combination of types that may vary; here none does.
  types: [["1.2"]],
  infer: ({ input: { dimensions } }) => ({ output: { dimensions } }),
  // The reference defines the right result. It runs only if an application gives it the extension.
  reference({ input }, { output: { data, params } }) {
    for (const [index, value] of input.data.entries()) data[index] = toFixed16(value, params);
  },
});

export const extension = defineExtension({ name, operandTypes: { TENSOR_FIXED16 }, operations: [TO_FIXED16] });
