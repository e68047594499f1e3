/** Constants that are quantised by blocks: so many elements of a row share a scale. */
import { listText } from "../error.ts";
import { tensorOf } from "./graph.ts";
import type { Lowering } from "./lowering.ts";

/** The operators for which TensorFlow Lite has this; input 1 is the constant. */
const operators: ReadonlySet<string> = new Set(["FULLY_CONNECTED", "EMBEDDING_LOOKUP"]);

/** The blocks of a matrix. */
export interface Blocks {
  /** In each row. */
  readonly count: number;
  readonly size: number;
  /** The operand with the scales: TENSOR_FLOAT32 [rows, count]. */
  readonly scales: number;
}

/** Refuses an operator with an input that is quantised by blocks, which TensorFlow Lite does not compute. */
export function ensureNoOtherBlocks(op: Lowering): void {
  const { name, inputs } = op.operator;
  for (const [place, tensor] of inputs.entries()) {
    const blocks = op.graph.tensor(tensor)?.blocks;
    if (blocks === undefined) continue;
    op.ensure(
      blocks.dimensions === undefined,
      () => `input ${place} is quantised along several dimensions, which no kernel of TensorFlow Lite computes`,
    );
    op.ensure(
      operators.has(name) && place === 1,
      () =>
        `input ${place} is quantised by blocks; TensorFlow Lite computes that for input 1 of ${[...operators].join(" and ")}`,
    );
  }
}

/** The blocks of input 1; undefined if it has none. */
export function blocksOf(op: Lowering): Blocks | undefined {
  const { type, blocks } = op.inputTensor(1);
  if (blocks === undefined) return undefined;
  const { dimensions } = op.inputSpec(1);
  const [rows = 0, columns = 0] = dimensions;
  const { blockSize: size, scales } = blocks;
  const { name } = op.operator;
  const isPacked = type === "INT4" || (type === "INT2" && name === "EMBEDDING_LOOKUP");
  op.ensure(isPacked, () => `blocks of ${type} are not supported for ${name}`);
  op.ensure(
    dimensions.length === 2 && size >= 1 && columns % size === 0,
    () => `rows of ${listText(dimensions)} do not divide into blocks of ${size}`,
  );
  const count = columns / size;
  const tensor = tensorOf(op.graph, scales);
  const bytes = op.graph.constantBytes(scales);
  op.ensure(
    tensor.type === "FLOAT16" && bytes?.length === 2 * rows * count,
    () =>
      `the scales of the blocks: expected ${rows * count} FLOAT16 constants, got ${tensor.type}${listText(tensor.shape)}`,
  );
  const shape = { dimensions: [rows, count], scale: 0, zeroPoint: 0 };
  const halves = op.graph.reinterpret(scales, `blocks of ${size}`, () => ({ type: "TENSOR_FLOAT16", ...shape }));
  const floats = op.graph.derive(`${halves} as float`, { type: "TENSOR_FLOAT32", ...shape }, (result) =>
    op.emit("CAST", [halves], [result]),
  );
  return { count, size, scales: floats };
}

/**
 * The real values of rows of blocks, as an operand: TENSOR_FLOAT32 of the rows' shape, or `result`. `scales`: TENSOR_FLOAT32, a row for
 * each row.
 */
export function widenedBlocks(
  op: Lowering,
  rows: number,
  scales: number,
  { count, size }: Blocks,
  result?: number,
): number {
  const { dimensions } = op.graph.spec(rows);
  const floats = (...extents: number[]) =>
    op.graph.temporary({ type: "TENSOR_FLOAT32", dimensions: extents, scale: 0, zeroPoint: 0 });
  const [first = 0] = dimensions;
  const made = result ?? floats(...dimensions);
  const elements = floats(...dimensions);
  const flat = floats(first * count, size);
  const factors = floats(first * count, 1);
  const products = floats(first * count, size);
  op.emit("DEQUANTIZE", [rows], [elements]);
  op.emit("RESHAPE", [elements, op.int32Tensor([-1, size])], [flat]);
  op.emit("RESHAPE", [scales, op.int32Tensor([-1, 1])], [factors]);
  op.emit("MUL", [flat, factors, op.int32(0)], [products]);
  op.emit("RESHAPE", [products, op.int32Tensor([-1, count * size])], [made]);
  return made;
}
