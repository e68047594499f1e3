/**
 * Small valid examples for the tests of mutations, which together have every kind of operand that a rule is about.
 */

import { addExample, bytesOf, constant, input, operand, output } from "@nnhal/test-kit/examples";
import type { Model } from "@nnhal/types";
import type { Example, ExampleOperand, ExampleSubgraph } from "../vectors/example.ts";
import { modelOf } from "../vectors/model.ts";

const floats = (...values: number[]) => bytesOf(Float32Array.of(...values));
const ints = (...values: number[]) => bytesOf(Int32Array.of(...values));
const int32 = (value: number, numberOfConsumers = 1) =>
  operand("INT32", [], { ...constant, numberOfConsumers, data: ints(value) });

/** An example of one main subgraph, whose boundary is found from the lifetimes. */
export function exampleOf(
  name: string,
  operands: readonly ExampleOperand[],
  operations: ExampleSubgraph["operations"],
  referenced: readonly ExampleSubgraph[] = [],
): Example {
  return addExample({ name, spec: `made_up/${name}`, main: subgraphOf(operands, operations), referenced });
}

function subgraphOf(operands: readonly ExampleOperand[], operations: ExampleSubgraph["operations"]): ExampleSubgraph {
  const indexesOf = (lifetime: string) => operands.flatMap((one, index) => (one.lifetime === lifetime ? [index] : []));
  return {
    operands,
    operations,
    inputIndexes: indexesOf("SUBGRAPH_INPUT"),
    outputIndexes: indexesOf("SUBGRAPH_OUTPUT"),
  };
}

/** relu(input) + a constant in a pool, in two operations. */
export const twoOperations = exampleOf(
  "two_operations",
  [
    operand("TENSOR_FLOAT32", [2, 2], { ...input, data: floats(1, -2, 3, -4) }),
    operand("TENSOR_FLOAT32", [2, 2], { numberOfConsumers: 1 }),
    operand("TENSOR_FLOAT32", [2], { ...constant, lifetime: "CONSTANT_REFERENCE", data: floats(1, 2) }),
    int32(0),
    operand("TENSOR_FLOAT32", [2, 2], { ...output, data: floats(2, 2, 4, 2) }),
  ],
  [
    { type: "RELU", inputs: [0], outputs: [1] },
    { type: "ADD", inputs: [1, 2, 3], outputs: [4] },
  ],
);

/** A convolution whose filter has a scale for each channel. */
export const perChannel = exampleOf(
  "per_channel",
  [
    operand("TENSOR_QUANT8_ASYMM", [1, 1, 1, 2], {
      ...input,
      scale: 0.5,
      zeroPoint: 128,
      data: Uint8Array.of(130, 132),
    }),
    operand("TENSOR_QUANT8_SYMM_PER_CHANNEL", [2, 1, 1, 2], {
      ...constant,
      channelQuant: { scales: [0.5, 0.25], channelDim: 0 },
      data: Uint8Array.of(1, 2, 3, 4),
    }),
    operand("TENSOR_INT32", [2], { ...constant, data: ints(0, 0) }),
    int32(1),
    int32(1, 2),
    int32(0),
    operand("TENSOR_QUANT8_ASYMM", [1, 1, 1, 2], { ...output, scale: 1, zeroPoint: 0, data: Uint8Array.of(3, 3) }),
  ],
  [{ type: "CONV_2D", inputs: [0, 1, 2, 3, 4, 4, 5], outputs: [6] }],
);

/** A transposition whose permutation is omitted, of a symmetric quantised type at both ends of a conversion. */
export const omitted = exampleOf(
  "omitted",
  [
    operand("TENSOR_QUANT8_SYMM", [2, 2], { ...input, scale: 0.5, data: Uint8Array.of(1, 2, 3, 4) }),
    operand("TENSOR_FLOAT32", [2, 2], { numberOfConsumers: 1 }),
    operand("TENSOR_INT32", [2], { lifetime: "NO_VALUE", numberOfConsumers: 1 }),
    operand("TENSOR_FLOAT32", [2, 2], { ...output, data: floats(0.5, 1.5, 1, 2) }),
  ],
  [
    { type: "DEQUANTIZE", inputs: [0], outputs: [1] },
    { type: "TRANSPOSE", inputs: [1, 2], outputs: [3] },
  ],
);

const subgraphReference = (index: number) =>
  operand("SUBGRAPH", [], { lifetime: "SUBGRAPH", numberOfConsumers: 1, data: bytesOf(Int32Array.of(index)) });

const branch = (type: "RELU" | "TANH") =>
  subgraphOf(
    [operand("TENSOR_FLOAT32", [2], input), operand("TENSOR_FLOAT32", [2], output)],
    [{ type, inputs: [0], outputs: [1] }],
  );

/** relu or tanh, as a condition says. */
export const choice = exampleOf(
  "choice",
  [
    operand("TENSOR_BOOL8", [1], { ...input, data: Uint8Array.of(1) }),
    subgraphReference(0),
    subgraphReference(1),
    operand("TENSOR_FLOAT32", [2], { ...input, data: floats(1, -1) }),
    operand("TENSOR_FLOAT32", [2], { ...output, data: floats(1, 0) }),
  ],
  [{ type: "IF", inputs: [0, 1, 2, 3], outputs: [4] }],
  [branch("RELU"), branch("TANH")],
);

/** All of them. */
export const examples: readonly Example[] = [addExample(), twoOperations, perChannel, omitted, choice];

/** The model of an example, in which nothing can be changed. */
export function frozenModel(example: Example): Model {
  return freeze(modelOf({ example, name: example.name, unspecifiedOutputs: false }));
}

/** Freezes a value and everything in it, except memory, which cannot be frozen. */
export function freeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
