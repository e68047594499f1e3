/**
 * SPACE_TO_BATCH_ND: pads an image, then moves each position within blocks of pixels to a separate batch. Row i, column j
 * of each block of batch b goes to batch (i·blockWidth + j)·batches + b.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, optional, read, tensor } from "../params.ts";
import { createData, elementCount, type Tensor } from "../tensor.ts";
import { imageAxes } from "../window.ts";
import { blockOf, wholePart } from "./_blocks.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { logicalZeroSince, type Pad, pad, paddedShape, padsOf } from "./_pads.ts";
import { permute } from "./_rearrange.ts";

export const spaceToBatchNd = defineOperation({
  name: "SPACE_TO_BATCH_ND",
  code: OperationType.SPACE_TO_BATCH_ND,
  summary: "Pads an image, then takes each place within blocks of pixels as a batch of its own.",
  params: [
    tensor("input"),
    read(tensor("block", "TENSOR_INT32")),
    read(tensor("paddings", "TENSOR_INT32")),
    optional("1.2", bool("nchw"), false),
  ],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: 4, block: 1, paddings: 2 },
  since: ({ input }) => logicalZeroSince(input),
  infer({ input, block, paddings, nchw }) {
    const axes = imageAxes(nchw);
    const [blockHeight, blockWidth] = blockOf(block);
    const dimensions = [...paddedShape(input.dimensions, imagePads(paddings, nchw))];
    dimensions[axes.height] = wholePart("a padded height", dimensions[axes.height], blockHeight);
    dimensions[axes.width] = wholePart("a padded width", dimensions[axes.width], blockWidth);
    dimensions[axes.batch] *= blockHeight * blockWidth;
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input, block, paddings, nchw }, { output }) {
    const axes = imageAxes(nchw);
    const [blockHeight, blockWidth] = blockOf(block);
    const padded = createData(input.type, elementCount(output.dimensions));
    const depth = input.dimensions[axes.channel];
    const batches = input.dimensions[axes.batch];
    const rows = output.dimensions[axes.height];
    const columns = output.dimensions[axes.width];
    return [
      ...pad(input, imagePads(paddings, nchw), input.zeroPoint, padded),
      nchw
        ? permute(padded, [batches, depth, rows, blockHeight, columns, blockWidth], [3, 5, 0, 1, 2, 4], output.data)
        : permute(padded, [batches, rows, blockHeight, columns, blockWidth, depth], [2, 4, 0, 1, 3, 5], output.data),
    ];
  },
});

/** The pads of all four axes, of paddings that tell those of height and width. */
function imagePads(paddings: Tensor, nchw: boolean): readonly Pad[] {
  const [height, width] = padsOf(paddings, 2);
  const none: Pad = [0, 0];
  return nchw ? [none, none, height, width] : [none, height, width, none];
}
