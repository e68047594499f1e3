/**
 * AXIS_ALIGNED_BBOX_TRANSFORM: moves and scales regions of interest by predicted deltas, and cuts them off at the border.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { boxQuantisation, ensureBatch, ensureBoxScale, ensureOrdered, transformBox } from "./_boxes.ts";
import { realValues, storeReal } from "./_real.ts";

export const axisAlignedBboxTransform = defineOperation({
  name: "AXIS_ALIGNED_BBOX_TRANSFORM",
  code: OperationType.AXIS_ALIGNED_BBOX_TRANSFORM,
  summary: "Moves and scales regions of interest by predicted deltas.",
  params: [tensor("regions"), tensor("deltas"), tensor("batches", "TENSOR_INT32"), tensor("imageSizes")],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT16_ASYMM"],
    ["1.3", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT16_ASYMM"],
  ],
  ranks: { regions: 2, deltas: 2, batches: 1, imageSizes: 2 },
  infer({ regions, deltas, batches, imageSizes }) {
    const [count] = regions.dimensions;
    const classes = deltas.dimensions[1] / 4;
    ensure(
      classes >= 1 && Number.isInteger(classes),
      () => `deltas have ${deltas.dimensions[1]} columns, not 4 per class`,
    );
    ensure(imageSizes.dimensions[0] > 0, () => "there are no images");
    ensureShape("the regions", regions, [count, 4]);
    ensureShape("the deltas", deltas, [count, 4 * classes]);
    ensureShape("the batch indexes", batches, [count]);
    ensureShape("the image sizes", imageSizes, [imageSizes.dimensions[0], 2]);
    ensureBoxScale("the regions", regions);
    ensureBoxScale("the image sizes", imageSizes);
    return { output: { dimensions: deltas.dimensions, ...boxQuantisation(regions) } };
  },
  reference({ regions, deltas, batches, imageSizes }, { output }) {
    const boxes = realValues(regions);
    const moves = realValues(deltas);
    const sizes = realValues(imageSizes);
    const [count, columns] = deltas.dimensions;
    const result = new Float64Array(count * columns);
    const transform = (first: number, end: number) => {
      for (let box = first; box < end; box++) {
        const batch = batches.data[box];
        ensureBatch(batch, imageSizes.dimensions[0]);
        ensureOrdered(boxes.data, 4 * box);
        const [height, width] = sizes.data.subarray(2 * batch, 2 * batch + 2);
        for (let at = box * columns; at < (box + 1) * columns; at += 4) {
          transformBox(boxes.data, 4 * box, moves.data, at, height, width, result, at);
        }
      }
    };
    // Nothing is stored of boxes of which one is refused.
    const store = (first: number, end: number) => storeReal(output, result.subarray(first, end), first);
    return [
      ...boxes.phases,
      ...moves.phases,
      ...sizes.phases,
      { units: count, cost: 16 * columns, compute: transform },
      { units: result.length, compute: store },
    ];
  },
});
