/** Small models out of operands and operations. */
import { type Model, type Operand, OperandLifeTime, OperandType, type Operation, OperationType } from "@nnhal/types";

const { TENSOR_FLOAT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY } = OperandLifeTime;

/** An operand. `numberOfConsumers` is counted by `modelOf`. */
export const operand = (
  type: number,
  lifetime: number,
  dimensions: number[],
  more: Partial<Operand> = {},
): Operand => ({
  type,
  dimensions,
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
  ...more,
});

/** A constant within the model's values. */
export const constant = (type: number, dimensions: number[], offset: number, length: number) =>
  operand(type, CONSTANT_COPY, dimensions, { location: { poolIndex: 0, offset, length } });

/** A model; its inputs and outputs are the operands of these lifetimes, in order. */
export function modelOf(operands: Operand[], operations: Operation[], operandValues = new Uint8Array(0)): Model {
  const withLifetime = (lifetime: number) =>
    operands.flatMap((one, index) => (one.lifetime === lifetime ? [index] : []));
  const uses = operands.map(
    (_, index) => operations.flatMap(({ inputs }) => inputs).filter((one) => one === index).length,
  );
  return {
    main: {
      operands: operands.map((one, index) => ({ ...one, numberOfConsumers: uses[index] })),
      operations,
      inputIndexes: withLifetime(SUBGRAPH_INPUT),
      outputIndexes: withLifetime(SUBGRAPH_OUTPUT),
    },
    referenced: [],
    operandValues,
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

/** x · [[1, 2], [3, 4]]ᵀ + [10, 20], then RELU6, then √. */
export function network(): Model {
  const values = new Uint8Array(28);
  values.set(new Uint8Array(Float32Array.of(1, 2, 3, 4, -1, 1).buffer));
  new DataView(values.buffer).setInt32(24, 3, true);
  return modelOf(
    [
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [1, 2]),
      constant(TENSOR_FLOAT32, [2, 2], 0, 16),
      constant(TENSOR_FLOAT32, [2], 16, 8),
      constant(INT32, [], 24, 4),
      operand(TENSOR_FLOAT32, TEMPORARY_VARIABLE, [1, 2]),
      operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1, 2]),
    ],
    [
      { type: OperationType.FULLY_CONNECTED, inputs: [0, 1, 2, 3], outputs: [4] },
      { type: OperationType.SQRT, inputs: [4], outputs: [5] },
    ],
    values,
  );
}
