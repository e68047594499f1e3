/** The models that requests are for: one without conditions, one with an unknown shape, one with a scalar, and one with an omitted input. */
import { type Model, type Operand, OperandLifeTime, OperandType, OperationType, type Subgraph } from "@nnhal/types";

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

function operand(lifetime: number, dimensions: readonly number[], more: Partial<Operand> = {}): Operand {
  return {
    type: OperandType.TENSOR_FLOAT32,
    dimensions,
    numberOfConsumers: 0,
    scale: 0,
    zeroPoint: 0,
    lifetime,
    location: nowhere,
    extraParams: { kind: "none" },
    ...more,
  };
}

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;
/** No activation. */
const none = operand(CONSTANT_COPY, [], {
  type: OperandType.INT32,
  location: { poolIndex: 0, offset: 0, length: 4 },
  numberOfConsumers: 1,
});
const read = { numberOfConsumers: 1 };

function modelOf(main: Pick<Subgraph, "operands" | "operations">): Model {
  const withLifetime = (wanted: number) =>
    main.operands.flatMap(({ lifetime }, index) => (lifetime === wanted ? [index] : []));
  return {
    main: { ...main, inputIndexes: withLifetime(SUBGRAPH_INPUT), outputIndexes: withLifetime(SUBGRAPH_OUTPUT) },
    referenced: [],
    operandValues: new Uint8Array(8),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

const add = (left: readonly number[], right: readonly number[], output: readonly number[]): Model =>
  modelOf({
    operands: [
      operand(SUBGRAPH_INPUT, left, read),
      operand(SUBGRAPH_INPUT, right, read),
      none,
      operand(SUBGRAPH_OUTPUT, output),
    ],
    operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
  });

/** Inputs of 4 and 4 bytes; of 8 and unknown; of 16 quantised bytes with a scalar; all with one output. */
export const smallModels: readonly Model[] = [
  add([1], [1], [1]),
  add([2, 1], [0, 0], []),
  modelOf({
    operands: [
      operand(SUBGRAPH_INPUT, [4, 4], { ...read, type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 128 }),
      operand(SUBGRAPH_INPUT, [], { ...read, type: OperandType.INT32 }),
      operand(SUBGRAPH_OUTPUT, [0, 4], { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 128 }),
      operand(SUBGRAPH_INPUT, [1], { ...read, type: OperandType.TENSOR_INT32 }),
    ],
    operations: [{ type: OperationType.GATHER, inputs: [0, 1, 3], outputs: [2] }],
  }),
  modelOf({
    operands: [
      operand(SUBGRAPH_INPUT, [0], read),
      operand(SUBGRAPH_INPUT, [2], { ...read, type: OperandType.TENSOR_INT32 }),
      operand(SUBGRAPH_OUTPUT, []),
    ],
    operations: [{ type: OperationType.RESHAPE, inputs: [0, 1], outputs: [2] }],
  }),
];
