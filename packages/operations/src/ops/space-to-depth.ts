/**
 * SPACE_TO_DEPTH: gathers each block of pixels into the channels of one. Row i, column j of the block, channel c goes to
 * channel (i·block + j)·depth + c, in both layouts.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, int32, optional, tensor } from "../params.ts";
import { imageAxes } from "../window.ts";
import { squareBlock, wholePart } from "./_blocks.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { permute } from "./_rearrange.ts";

export const spaceToDepth = defineOperation({
  name: "SPACE_TO_DEPTH",
  code: OperationType.SPACE_TO_DEPTH,
  summary: "Gathers each block of pixels into the channels of one pixel.",
  params: [tensor("input"), int32("blockSize"), optional("1.2", bool("nchw"), false)],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.0"),
  ranks: { input: 4 },
  infer({ input, blockSize, nchw }) {
    const axes = imageAxes(nchw);
    const [blockHeight, blockWidth] = squareBlock(blockSize);
    const dimensions = [...input.dimensions];
    dimensions[axes.height] = wholePart("a height", dimensions[axes.height], blockHeight);
    dimensions[axes.width] = wholePart("a width", dimensions[axes.width], blockWidth);
    dimensions[axes.channel] *= blockHeight * blockWidth;
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input, blockSize, nchw }, { output }) {
    const axes = imageAxes(nchw);
    const batches = input.dimensions[0];
    const height = output.dimensions[axes.height];
    const width = output.dimensions[axes.width];
    const depth = input.dimensions[axes.channel];
    return nchw
      ? permute(input.data, [batches, depth, height, blockSize, width, blockSize], [0, 3, 5, 1, 2, 4], output.data)
      : permute(input.data, [batches, height, blockSize, width, blockSize, depth], [0, 1, 3, 2, 4, 5], output.data);
  },
});
