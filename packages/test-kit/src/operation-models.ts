/** Models of one operation, whose constants are integers. */
import { type Model, type Operand, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { input, modelOf, operand, output, subgraphOf } from "./models.ts";

const { BOOL, INT32, TENSOR_INT32 } = OperandType;
const { CONSTANT_COPY } = OperandLifeTime;

type Facts = Partial<Operand>;

/** A model of one operation. Constants are integers of 32 bits, or booleans of one byte. */
export function operationModel(
  type: number,
  inputs: readonly (Facts | { constant: readonly number[]; facts: Facts })[],
  result: Facts,
): Model {
  const bytes: number[] = [];
  const operands = inputs.map((each) => {
    if (!("constant" in each)) return operand({ ...input, ...each });
    const data =
      each.facts.type === BOOL ? Uint8Array.from(each.constant) : new Uint8Array(Int32Array.from(each.constant).buffer);
    const location = { poolIndex: 0, offset: bytes.length, length: data.length };
    bytes.push(...data, ...new Array<number>((4 - (data.length % 4)) % 4).fill(0));
    return operand({ lifetime: CONSTANT_COPY, dimensions: [], ...each.facts, location });
  });
  operands.push(operand({ ...output, ...result }));
  const operations = [{ type, inputs: [...inputs.keys()], outputs: [inputs.length] }];
  return modelOf(subgraphOf(operands, operations), { operandValues: Uint8Array.from(bytes) });
}

/** A constant. */
export const bool = (value: boolean) => ({ constant: [value ? 1 : 0], facts: { type: BOOL } });
/** A constant. */
export const int32 = (value: number) => ({ constant: [value], facts: { type: INT32 } });
/** A constant. */
export const list = (numbers: readonly number[], dimensions = [numbers.length]) => ({
  constant: numbers,
  facts: { type: TENSOR_INT32, dimensions },
});

/** BATCH_MATMUL of matrices of these extents. */
export function matmulModel(
  facts: Facts,
  batches: readonly number[],
  extents: readonly number[],
  adjX: boolean,
  adjY: boolean,
  result = facts,
) {
  const [rows = 1, depth = 1, columns = 1] = extents;
  const x = { ...facts, dimensions: [...batches, ...(adjX ? [depth, rows] : [rows, depth])] };
  const y = { ...facts, dimensions: [...batches, ...(adjY ? [columns, depth] : [depth, columns])] };
  const sum = { ...result, dimensions: [...batches, rows, columns] };
  return operationModel(OperationType.BATCH_MATMUL, [x, y, bool(adjX), bool(adjY)], sum);
}
