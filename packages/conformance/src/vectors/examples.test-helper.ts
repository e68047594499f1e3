/**
 * Small examples for the kit's own tests, made here and written as vectors files are.
 */
import type { OperandTypeName } from "@nnhal/types";
import { type Example, type ExampleOperand, parseExample } from "../index.ts";

/** An operand with defaults for everything but its type and shape. */
export function operand(
  type: OperandTypeName,
  dimensions: readonly number[],
  more: Partial<ExampleOperand> = {},
): ExampleOperand {
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
export function addExample(more: Partial<Example> = {}): Example {
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
export function withOperands(example: Example, changes: Readonly<Record<number, Partial<ExampleOperand>>>): Example {
  const operands = example.main.operands.map((old, index) => ({ ...old, ...changes[index] }));
  return { ...example, main: { ...example.main, operands } };
}

/** An example of one FLOOR whose output has a type, a shape and expected bytes; what comes in does not matter. */
export function outputExample(
  type: OperandTypeName,
  dimensions: readonly number[],
  data: Uint8Array | null,
  more: Partial<Example> = {},
): Example {
  return addExample({
    name: "made_up/output",
    spec: "V1_2/made_up",
    main: {
      inputIndexes: [0],
      outputIndexes: [1],
      operations: [{ type: "FLOOR", inputs: [0], outputs: [1] }],
      operands: [
        operand("TENSOR_FLOAT32", [1], { ...input, data: bytesOf(Float32Array.of(1)) }),
        operand(type, dimensions, { ...output, data }),
      ],
    },
    ...more,
  });
}

/** An example as the line of a vectors file. */
export function toLine(example: Example): string {
  const { main, referenced, minSupportedVersion: version, ...rest } = example;
  return JSON.stringify(
    {
      ...rest,
      minSupportedVersion: version === undefined ? "UNKNOWN" : `V${version.replace(".", "_")}`,
      model: { main, referenced },
    },
    (_key, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value),
  );
}

/** The parsed JSON of an example's line, to be broken by a test. */
export function toJson(example: Example): ReturnType<typeof JSON.parse> {
  return JSON.parse(toLine(example));
}

/** What comes back from writing an example and reading it again. */
export function reread(example: Example): Example {
  return parseExample(toLine(example));
}
