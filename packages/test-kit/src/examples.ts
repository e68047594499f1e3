/**
 * Small conformance examples, and the lines of a vectors file that hold them.
 *
 * The types are the parts of `Example` of @nnhal/conformance that these examples have. They are stated here because conformance itself
 * uses this package; the compiler holds them together wherever an example is passed on to it.
 */
import type { HalVersion, OperandTypeName, OperationTypeName, operandLifeTimes } from "@nnhal/types";

export interface SmallOperand {
  readonly type: OperandTypeName;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly lifetime: keyof typeof operandLifeTimes;
  readonly numberOfConsumers: number;
  readonly channelQuant: { readonly scales: readonly number[]; readonly channelDim: number } | null;
  readonly isIgnored: boolean;
  readonly data: Uint8Array | null;
}

export interface SmallSubgraph {
  readonly inputIndexes: readonly number[];
  readonly outputIndexes: readonly number[];
  readonly operations: readonly {
    readonly type: OperationTypeName;
    readonly inputs: readonly number[];
    readonly outputs: readonly number[];
  }[];
  readonly operands: readonly SmallOperand[];
}

export interface SmallExample {
  readonly name: string;
  readonly spec: string;
  readonly minSupportedVersion?: HalVersion;
  readonly isRelaxed: boolean;
  readonly expectFailure: boolean;
  readonly expectedMultinomialDistributionTolerance: number;
  readonly main: SmallSubgraph;
  readonly referenced: readonly SmallSubgraph[];
}

/** An operand: a temporary without a value, except for the facts given. */
export function operand(
  type: OperandTypeName,
  dimensions: readonly number[],
  more: Partial<SmallOperand> = {},
): SmallOperand {
  return {
    type,
    dimensions,
    scale: 0,
    zeroPoint: 0,
    lifetime: "TEMPORARY_VARIABLE",
    numberOfConsumers: 0,
    channelQuant: null,
    isIgnored: false,
    data: null,
    ...more,
  };
}

/** The little-endian bytes of a typed array. */
export function bytesOf(
  values: Float32Array | Int32Array | Int16Array | Uint16Array | Int8Array | Uint8Array,
): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
}

/** `input + constant` in float32, with a copied constant and the activation NONE. */
export function addExample(more: Partial<SmallExample> = {}): SmallExample {
  return {
    name: "add_made_up/add_made_up",
    spec: "V1_0/add_made_up",
    minSupportedVersion: "1.0",
    isRelaxed: false,
    expectFailure: false,
    expectedMultinomialDistributionTolerance: 0,
    main: {
      inputIndexes: [0],
      outputIndexes: [3],
      operations: [{ type: "ADD", inputs: [0, 1, 2], outputs: [3] }],
      operands: [
        operand("TENSOR_FLOAT32", [1, 3], { ...input, data: bytesOf(Float32Array.of(1, 2, 3)) }),
        operand("TENSOR_FLOAT32", [1, 3], { ...constant, data: bytesOf(Float32Array.of(10, 20, 30)) }),
        operand("INT32", [], { ...constant, data: bytesOf(Int32Array.of(0)) }),
        operand("TENSOR_FLOAT32", [1, 3], { ...output, data: bytesOf(Float32Array.of(11, 22, 33)) }),
      ],
    },
    referenced: [],
    ...more,
  };
}

export const input = { lifetime: "SUBGRAPH_INPUT", numberOfConsumers: 1 } as const;
export const constant = { lifetime: "CONSTANT_COPY", numberOfConsumers: 1 } as const;
export const output = { lifetime: "SUBGRAPH_OUTPUT" } as const;

/** An example with some of its operands changed. */
export function withOperands(
  example: SmallExample,
  changes: Readonly<Record<number, Partial<SmallOperand>>>,
): SmallExample {
  const operands = example.main.operands.map((old, index) => ({ ...old, ...changes[index] }));
  return { ...example, main: { ...example.main, operands } };
}

/** An example as the line of a vectors file. */
export function toLine({ main, referenced, minSupportedVersion: version, ...rest }: SmallExample): string {
  return JSON.stringify(
    {
      ...rest,
      minSupportedVersion: version === undefined ? "UNKNOWN" : `V${version.replace(".", "_")}`,
      model: { main, referenced },
    },
    (_key, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value),
  );
}
