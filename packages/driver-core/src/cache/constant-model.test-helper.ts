/**
 * A model with constants of both kinds: x + a, plus b, where a lies in a pool and b in the model itself.
 */
import { type Model, type Operand, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { memoryOf } from "../memory/memory.ts";

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY, CONSTANT_REFERENCE } = OperandLifeTime;

function operand(lifetime: number, change: Partial<Operand> = {}): Operand {
  return {
    type: OperandType.TENSOR_FLOAT32,
    dimensions: [2],
    numberOfConsumers: lifetime === SUBGRAPH_OUTPUT ? 0 : 1,
    scale: 0,
    zeroPoint: 0,
    lifetime,
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams: { kind: "none" },
    ...change,
  };
}

/** x + a + b for two numbers each. The pool has more in it than `a`, before it and behind. */
export function constantModel(a: readonly number[] = [10, 20], b: readonly number[] = [1, 2]): Model {
  const pool = new Float32Array([-1, ...a, -1]);
  const values = new Float32Array([...b, 0]);
  const activation = operand(CONSTANT_COPY, {
    type: OperandType.INT32,
    dimensions: [],
    numberOfConsumers: 2,
    location: { poolIndex: 0, offset: 8, length: 4 },
  });
  return {
    main: {
      operands: [
        operand(SUBGRAPH_INPUT),
        operand(CONSTANT_REFERENCE, { location: { poolIndex: 0, offset: 4, length: 8 } }),
        activation,
        operand(TEMPORARY_VARIABLE),
        operand(CONSTANT_COPY, { location: { poolIndex: 0, offset: 0, length: 8 } }),
        operand(SUBGRAPH_OUTPUT),
      ],
      operations: [
        { type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] },
        { type: OperationType.ADD, inputs: [3, 4, 2], outputs: [5] },
      ],
      inputIndexes: [0],
      outputIndexes: [5],
    },
    referenced: [],
    operandValues: new Uint8Array(values.buffer),
    pools: [memoryOf(new Uint8Array(pool.buffer))],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}
