/**
 * Rows of lookups in tables.
 */
import { type Blocks, blocksOf, widenedBlocks } from "../blocks.ts";
import type { Lowering } from "../lowering.ts";
import { isQuantised } from "../operand-types.ts";
import type { Row } from "../row.ts";

/** Rows of a table that is quantised by blocks, and of its scales. */
function lookupBlocks(op: Lowering, blocks: Blocks): void {
  const [table, result] = [op.inputSpec(1), op.outputSpec()];
  op.ensure(
    result.type === "TENSOR_FLOAT32" || result.type === "TENSOR_FLOAT16",
    () => `rows of blocks become floats, the result is ${op.outputTensor().type}`,
  );
  const [first = 0] = result.dimensions;
  const rows = op.graph.temporary({ ...table, dimensions: result.dimensions });
  const scales = op.graph.temporary({ ...op.graph.spec(blocks.scales), dimensions: [first, blocks.count] });
  op.emit("EMBEDDING_LOOKUP", [op.input(0), op.input(1)], [rows]);
  op.emit("EMBEDDING_LOOKUP", [op.input(0), blocks.scales], [scales]);
  if (result.type === "TENSOR_FLOAT32") widenedBlocks(op, rows, scales, blocks, op.output());
  else op.emit("CAST", [widenedBlocks(op, rows, scales, blocks)], [op.output()]);
}

const embeddingLookup: Row = {
  operator: "EMBEDDING_LOOKUP",
  version: 5,
  operations: ["EMBEDDING_LOOKUP", "DEQUANTIZE", "RESHAPE", "MUL", "CAST"],
  note: "Of a quantised table with float results, the rows that were looked up are widened by DEQUANTIZE; the others are for blocks of elements with a scale each.",
  lower(op: Lowering) {
    const [table, result] = [op.inputSpec(1), op.outputSpec()];
    const blocks = blocksOf(op);
    if (blocks !== undefined) {
      lookupBlocks(op, blocks);
      return;
    }
    if (result.type !== "TENSOR_FLOAT32" || table.type === "TENSOR_FLOAT32") {
      op.emitMoved("EMBEDDING_LOOKUP", [op.input(0), op.input(1)], table);
    } else if (isQuantised(table.type)) {
      const rows = op.graph.temporary({ ...table, dimensions: result.dimensions });
      op.emit("EMBEDDING_LOOKUP", [op.input(0), op.input(1)], [rows]);
      op.emit("DEQUANTIZE", [rows], [op.output()]);
    } else {
      op.emit("EMBEDDING_LOOKUP", [op.input(0), op.asFloat(1)], [op.output()]);
    }
  },
};

const hashtableLookup: Row = {
  operator: "HASHTABLE_LOOKUP",
  version: 1,
  operations: ["HASHTABLE_LOOKUP"],
  lower: (op) => op.emit("HASHTABLE_LOOKUP", [op.input(0), op.input(1), op.input(2)], [op.output(0), op.output(1)]),
};

/** The HAL's codes; 1 is an older form of SPARSE. */
const projectionTypes: Readonly<Record<string, number>> = { DENSE: 2, SPARSE: 3 };

const lshProjection: Row = {
  operator: "LSH_PROJECTION",
  version: 1,
  operations: ["LSH_PROJECTION"],
  note: "SPARSE with weights: of the extension.",
  lower(op: Lowering) {
    const type = op.text("type");
    const code = projectionTypes[type];
    op.ensure(code !== undefined, () => `type ${type} is neither DENSE nor SPARSE`);
    const weight = op.has(2) ? op.input(2) : op.graph.omit("TENSOR_FLOAT32", 1);
    const inputs = [op.input(0), op.input(1), weight, op.int32(code)];
    const isWeightedSparse = type === "SPARSE" && op.has(2);
    if (isWeightedSparse && op.emitExtended("LSH_PROJECTION", inputs, [op.output()])) return;
    op.ensure(!isWeightedSparse, () => "the HAL's sparse projection takes no weights");
    op.emit("LSH_PROJECTION", inputs, [op.output()]);
  },
};

export const lookupRows: readonly Row[] = [embeddingLookup, hashtableLookup, lshProjection];
