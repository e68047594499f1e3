/**
 * BATCH_TO_SPACE_ND: spreads groups of batches over blocks of pixels, the reverse of SPACE_TO_BATCH_ND without padding.
 * Batch (i·blockWidth + j)·batches + b goes to row i, column j of each block of batch b.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, optional, read, tensor } from "../params.ts";
import { imageAxes } from "../window.ts";
import { blockOf, wholePart } from "./_blocks.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { permute } from "./_rearrange.ts";

export const batchToSpaceNd = defineOperation({
  name: "BATCH_TO_SPACE_ND",
  code: OperationType.BATCH_TO_SPACE_ND,
  summary: "Spreads groups of batches over blocks of pixels.",
  params: [tensor("input"), read(tensor("block", "TENSOR_INT32")), optional("1.2", bool("nchw"), false)],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: 4, block: 1 },
  infer({ input, block, nchw }) {
    const axes = imageAxes(nchw);
    const [blockHeight, blockWidth] = blockOf(block);
    const dimensions = [...input.dimensions];
    dimensions[axes.batch] = wholePart("a number of batches", dimensions[axes.batch], blockHeight * blockWidth);
    dimensions[axes.height] *= blockHeight;
    dimensions[axes.width] *= blockWidth;
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input, block, nchw }, { output }) {
    const [, ...image] = input.dimensions;
    const blocks = [...blockOf(block), output.dimensions[0], ...image];
    return permute(input.data, blocks, nchw ? [2, 3, 4, 0, 5, 1] : [2, 3, 0, 4, 1, 5], output.data);
  },
});
