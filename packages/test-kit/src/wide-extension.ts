/**
 * A vendor's extension for the tests of several packages: tensors and scalars of 64-bit integers, and operations that turn float tensors
 * into them and back, so that values of its types are temporaries between operations, devices and subgraphs.
 */
import type { ExtensionDefinition, Operation } from "@nnhal/operations";
import { defineExtension, defineOperation, ensure, extensionTypes, tensor } from "@nnhal/operations/authoring";

/** The name of the extension. */
export const wideName = "com.example.wide";

/** The extension data of a TENSOR_LONG: real value = element * factor. */
export interface LongParams {
  readonly factor: number;
}

function encodeLong({ factor }: LongParams): Uint8Array {
  return new Uint8Array(Float64Array.of(factor).buffer);
}

/** LONG is a scalar, TENSOR_LONG a tensor whose extension data are a double. */
export const { LONG, TENSOR_LONG } = extensionTypes(wideName, {
  LONG: { code: 3, kind: "scalar", array: BigInt64Array },
  TENSOR_LONG: {
    code: 5,
    kind: "tensor",
    array: BigInt64Array,
    params: {
      decode(bytes): LongParams {
        ensure(bytes.length === 8, () => `expected 8 bytes of data, got ${bytes.length}`);
        return { factor: new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true) };
      },
      encode: encodeLong,
    },
  },
});

/** real → long */
export const WIDEN = defineOperation({
  name: "WIDEN",
  code: 1,
  summary: "Divides by the factor of the result, and rounds.",
  params: [tensor("input", "TENSOR_FLOAT32")],
  outputs: [tensor("output", TENSOR_LONG)],
  types: [["1.2"]],
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output: { data, params } }) {
    for (const [index, value] of input.data.entries()) data[index] = BigInt(Math.round(value / params.factor));
  },
});

/** long → real */
export const NARROW = defineOperation({
  name: "NARROW",
  code: 2,
  summary: "Multiplies with the factor.",
  params: [tensor("input", TENSOR_LONG)],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input: { data, params } }, { output }) {
    for (const [index, value] of data.entries()) output.data[index] = Number(value) * params.factor;
  },
});

/** long + scalar → long */
export const ADD_LONG = defineOperation({
  name: "ADD_LONG",
  code: 7,
  summary: "Adds a scalar to each element.",
  params: [tensor("left", TENSOR_LONG), tensor("right", LONG)],
  outputs: [tensor("sum", TENSOR_LONG)],
  types: [["1.2"]],
  infer: ({ left }) => ({ sum: { dimensions: left.dimensions } }),
  reference({ left, right }, { sum }) {
    const [addend = 0n] = right.data;
    for (const [index, value] of left.data.entries()) sum.data[index] = value + addend;
  },
});

/** long → scalar */
export const GREATEST = defineOperation({
  name: "GREATEST",
  code: 9,
  summary: "The greatest element.",
  params: [tensor("input", TENSOR_LONG)],
  outputs: [tensor("output", LONG)],
  types: [["1.2"]],
  infer: () => ({ output: { dimensions: [] } }),
  reference({ input }, { output }) {
    output.data[0] = input.data.reduce((a, b) => (a > b ? a : b));
  },
});

/** The extension, or one of the same name and types that has only some of the operations. */
export function wideWith(...operations: readonly Operation[]): ExtensionDefinition {
  return defineExtension({ name: wideName, operandTypes: { LONG, TENSOR_LONG }, operations });
}

/** The extension with all its operations. */
export const wideExtension = wideWith(WIDEN, NARROW, ADD_LONG, GREATEST);

/** The code of one of its types or operations in a model. */
export function wideCode({ code }: { readonly code: number }, prefix = 1): number {
  return prefix * 0x1_0000 + code;
}

/** The extension data of a TENSOR_LONG. */
export function longParams(factor: number): { readonly kind: "extension"; readonly extension: Uint8Array } {
  return { kind: "extension", extension: encodeLong({ factor }) };
}
