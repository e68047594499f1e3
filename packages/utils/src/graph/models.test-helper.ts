/**
 * Models to draw.
 */
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY, CONSTANT_REFERENCE, NO_VALUE } = OperandLifeTime;

export function operand(type: number, lifetime: number, more: Partial<Operand> = {}): Operand {
  return {
    type,
    lifetime,
    dimensions: [],
    numberOfConsumers: 0,
    scale: 0,
    zeroPoint: 0,
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams: { kind: "none" },
    ...more,
  };
}

export function modelOf(main: Partial<Subgraph>, more: Partial<Model> = {}): Model {
  return {
    main: subgraphOf(main),
    referenced: [],
    operandValues: new Uint8Array(0),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
    ...more,
  };
}

export function subgraphOf(parts: Partial<Subgraph>): Subgraph {
  return { operands: [], operations: [], inputIndexes: [], outputIndexes: [], ...parts };
}

export function constantAt(offset: number, length: number, lifetime: number = CONSTANT_COPY): Partial<Operand> {
  return { lifetime, location: { poolIndex: 0, offset, length } };
}

const { TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM, TENSOR_INT32, INT32, SUBGRAPH, TENSOR_BOOL8 } = OperandType;

/** A convolution whose weights lie in a pool that is not mapped, with an activation of 3 and strides of 2. */
export function convolutionModel(): Model {
  return modelOf(
    {
      operands: [
        operand(TENSOR_QUANT8_ASYMM, SUBGRAPH_INPUT, { dimensions: [1, 8, 8, 3], scale: 0.5, zeroPoint: 128 }),
        operand(TENSOR_QUANT8_ASYMM, CONSTANT_REFERENCE, { dimensions: [4, 3, 3, 3], scale: 0.25 }),
        operand(TENSOR_INT32, CONSTANT_REFERENCE, { dimensions: [4] }),
        operand(INT32, CONSTANT_COPY, constantAt(0, 4)),
        operand(INT32, CONSTANT_COPY, constantAt(4, 4)),
        operand(INT32, CONSTANT_COPY, constantAt(8, 4)),
        operand(TENSOR_QUANT8_ASYMM, SUBGRAPH_OUTPUT, { dimensions: [1, 4, 4, 4], scale: 1 }),
      ],
      operations: [{ type: OperationType.CONV_2D, inputs: [0, 1, 2, 3, 4, 4, 5], outputs: [6] }],
      inputIndexes: [0],
      outputIndexes: [6],
    },
    { operandValues: new Uint8Array(Int32Array.of(1, 2, 3).buffer) },
  );
}

/** IF(input 0) { subgraph 0: IF again, else subgraph 2 } else { subgraph 1 }; all pass a value through. */
export function branchingModel(): Model {
  const value = (lifetime: number) => operand(TENSOR_FLOAT32, lifetime, { dimensions: [2] });
  const condition = operand(TENSOR_BOOL8, SUBGRAPH_INPUT, { dimensions: [1] });
  const reference = (index: number) =>
    operand(SUBGRAPH, OperandLifeTime.SUBGRAPH, { location: { poolIndex: 0, offset: index, length: 0 } });
  const makeBranching = (thenIndex: number, elseIndex: number) =>
    subgraphOf({
      operands: [condition, reference(thenIndex), reference(elseIndex), value(SUBGRAPH_INPUT), value(SUBGRAPH_OUTPUT)],
      operations: [{ type: OperationType.IF, inputs: [0, 1, 2, 3], outputs: [4] }],
      inputIndexes: [0, 3],
      outputIndexes: [4],
    });
  const passing = subgraphOf({
    operands: [value(SUBGRAPH_INPUT), value(SUBGRAPH_OUTPUT)],
    operations: [{ type: OperationType.ABS, inputs: [0], outputs: [1] }],
    inputIndexes: [0],
    outputIndexes: [1],
  });
  return modelOf(makeBranching(0, 1), { referenced: [makeBranching(1, 2), passing, passing] });
}

/** A model of one operation of an extension, whose name needs quoting in a graph. */
export function extensionModel(name: string): Model {
  const operation: Operation = { type: 0x7_0002, inputs: [0, 1], outputs: [2] };
  return modelOf(
    {
      operands: [
        operand(0x7_0001, SUBGRAPH_INPUT, { dimensions: [2, 0] }),
        operand(0x8_0001, NO_VALUE),
        operand(0x7_0001, SUBGRAPH_OUTPUT),
      ],
      operations: [operation],
      inputIndexes: [0],
      outputIndexes: [2],
    },
    { extensionNameToPrefix: [{ name, prefix: 7 }] },
  );
}
