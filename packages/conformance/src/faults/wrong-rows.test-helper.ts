/**
 * A fault of engines that join a layer with the operation that reads it: the second tensor of that operation is read at wrong rows.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";

/** Returns true if two values are held in memory of one size, by the model's description. */
export function areAlike(a: Operand, b: Operand): boolean {
  return (
    a.type === b.type &&
    a.scale === b.scale &&
    a.zeroPoint === b.zeroPoint &&
    a.dimensions.length > 0 &&
    !a.dimensions.includes(0) &&
    String(a.dimensions) === String(b.dimensions)
  );
}

/** The number of the operation that writes each operand. */
export function writersIn({ operations }: Subgraph): ReadonlyMap<number, number> {
  return new Map(operations.flatMap(({ outputs }, index) => outputs.map((operand) => [operand, index] as const)));
}

const none = { poolIndex: 0, offset: 0, length: 0 };

/** Layers whose results compilers join with the operation that reads them. */
const layers: ReadonlySet<number> = new Set([
  OperationType.CONV_2D,
  OperationType.DEPTHWISE_CONV_2D,
  OperationType.FULLY_CONNECTED,
]);

/** A model whose second tensor after a layer of 2 to 7 rows has its rows, except the first, in another order. */
export function withWrongRows(model: Model): Model {
  const { main, operandValues } = model;
  const writers = writersIn(main);
  for (const [index, { type, inputs }] of main.operations.entries()) {
    if (type !== OperationType.ADD && type !== OperationType.SUB && type !== OperationType.MUL) continue;
    const [first = -1, second = -1] = inputs;
    const layer = main.operations[writers.get(first) ?? -1]?.type ?? -1;
    const [own, other] = [elementAt(main.operands, first), elementAt(main.operands, second)];
    const axis = own.dimensions.findIndex((extent, place) => extent > 1 && place < own.dimensions.length - 1);
    const rows = own.dimensions[axis] ?? 0;
    const isWide = (own.dimensions.at(-1) ?? 0) % 16 === 0;
    if (!layers.has(layer) || !areAlike({ ...own, scale: other.scale, zeroPoint: other.zeroPoint }, other)) continue;
    if (!isWide || rows < 3 || rows > 7) continue;
    const order = Int32Array.from({ length: rows }, (_, row) => (row === 0 ? 0 : rows - row));
    const values = new Uint8Array(operandValues.length + 4 + order.byteLength);
    values.set(operandValues);
    const constant = (offset: number, length: number, tensor: boolean): Operand => ({
      ...own,
      type: tensor ? OperandType.TENSOR_INT32 : OperandType.INT32,
      dimensions: tensor ? [rows] : [],
      scale: 0,
      zeroPoint: 0,
      numberOfConsumers: 1,
      lifetime: OperandLifeTime.CONSTANT_COPY,
      location: { poolIndex: 0, offset, length },
    });
    new DataView(values.buffer).setInt32(operandValues.length, axis, true);
    values.set(new Uint8Array(order.buffer), operandValues.length + 4);
    const moved: Operand = {
      ...other,
      lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
      numberOfConsumers: 1,
      location: none,
    };
    const count = main.operands.length;
    const operands = [
      ...main.operands,
      constant(operandValues.length, 4, false),
      constant(operandValues.length + 4, order.byteLength, true),
      moved,
    ];
    const gather: Operation = { type: OperationType.GATHER, inputs: [second, count, count + 1], outputs: [count + 2] };
    const joined = { ...elementAt(main.operations, index), inputs: inputs.with(1, count + 2) };
    const operations = main.operations.toSpliced(index, 1, gather, joined);
    return { ...model, operandValues: values, main: { ...main, operands, operations } };
  }
  return model;
}
