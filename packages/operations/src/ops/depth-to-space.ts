/**
 * DEPTH_TO_SPACE: spreads the channels of each pixel over a block of pixels. Channel (i·block + j)·depth + c goes to row i,
 * column j of the block, channel c, in both layouts.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, int32, optional, tensor } from "../params.ts";
import { imageAxes } from "../window.ts";
import { squareBlock, wholePart } from "./_blocks.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { permute } from "./_rearrange.ts";

export const depthToSpace = defineOperation({
  name: "DEPTH_TO_SPACE",
  code: OperationType.DEPTH_TO_SPACE,
  summary: "Spreads the channels of each pixel over a block of pixels.",
  params: [tensor("input"), int32("blockSize"), optional("1.2", bool("nchw"), false)],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.0"),
  ranks: { input: 4 },
  infer({ input, blockSize, nchw }) {
    const axes = imageAxes(nchw);
    const [blockHeight, blockWidth] = squareBlock(blockSize);
    const dimensions = [...input.dimensions];
    dimensions[axes.channel] = wholePart("a depth", dimensions[axes.channel], blockHeight * blockWidth);
    dimensions[axes.height] *= blockHeight;
    dimensions[axes.width] *= blockWidth;
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input, blockSize, nchw }, { output }) {
    const axes = imageAxes(nchw);
    const batches = input.dimensions[0];
    const height = input.dimensions[axes.height];
    const width = input.dimensions[axes.width];
    const depth = output.dimensions[axes.channel];
    return nchw
      ? permute(input.data, [batches, blockSize, blockSize, depth, height, width], [0, 3, 4, 1, 5, 2], output.data)
      : permute(input.data, [batches, height, width, blockSize, blockSize, depth], [0, 1, 3, 2, 4, 5], output.data);
  },
});
