/**
 * Examples for the tests of this package, and what writing and reading makes of them.
 */
import { addExample, bytesOf, input, operand, output, toLine } from "@nnhal/test-kit/examples";
import type { OperandTypeName } from "@nnhal/types";
import { type Example, type ExampleOperand, parseExample } from "../index.ts";

/** An example of one FLOOR whose output has a type, a shape and expected bytes; the input has no part in the test. */
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

/** An example in which some operands of the main subgraph are otherwise. */
export function changeExample(example: Example, own: Readonly<Record<number, Partial<ExampleOperand>>>): Example {
  const operands = example.main.operands.map((operand, index) => ({ ...operand, ...own[index] }));
  return { ...example, main: { ...example.main, operands } };
}

/** The parsed JSON of an example's line, to be broken by a test. */
export function toJson(example: Example): ReturnType<typeof JSON.parse> {
  return JSON.parse(toLine(example));
}

/** The example that is read from the line of another. */
export function reread(example: Example): Example {
  return parseExample(toLine(example));
}
