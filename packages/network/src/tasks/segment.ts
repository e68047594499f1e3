/**
 * Which class each pixel of a picture has.
 */
import type { OptionNames } from "@nnhal/operations";
import { elementAt } from "@nnhal/operations";
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { PictureSource } from "../picture/load-picture.ts";
import { checkLabels } from "../scores.ts";
import type { Tensor } from "../tensor-info.ts";
import { placePicture } from "./picture-input.ts";
import { checkModel, outputsByRole } from "./roles.ts";

/** The classes of a picture's pixels. */
export interface Segmentation {
  /** Those of the picture. */
  readonly width: number;
  readonly height: number;
  /** The class of each pixel, row by row. 0 is the background of most models. */
  readonly classes: Uint16Array;
  /** The classes that there are, the greatest first. `share`: of all pixels. */
  readonly areas: readonly { readonly index: number; readonly label: string | null; readonly share: number }[];
}

/** Options of segmenting. */
export interface SegmentOptions {
  /** Names of the classes. Default: those that are packed with the model. */
  readonly labels?: readonly string[] | undefined;
  /** The name of the output. Default: the only one that is as wide and high as a picture. */
  readonly output?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const roles = {
  classes: {
    names: /argmax|segment|class|mask/,
    fits: ({ shape }: { shape: readonly number[] }) => shape.length >= 3 && (shape[1] ?? 0) > 1 && (shape[2] ?? 0) > 1,
  },
};

const segmentOptions: OptionNames<SegmentOptions> = {
  labels: true,
  output: true,
  signal: true,
};

/**
 * The class of each pixel of a picture: a model whose output is [1, height, width] with classes, [1, height, width, classes] with scores,
 * or [1, height, width, 1] with the share of the only class, which is 1 where that is 0.5 or more, and else 0.
 */
export function segment(model: Model, source: PictureSource, options: SegmentOptions = {}): Promise<Segmentation> {
  return wrapErrors("segment", options, () => segmentPicture(model, source, options));
}

async function segmentPicture(model: Model, source: PictureSource, options: SegmentOptions): Promise<Segmentation> {
  checkModel("segment", model);
  checkOptions("segment", options, segmentOptions);
  checkLabels("segment", options.labels);
  const { labels, output, signal } = options;
  const info = outputsByRole("segment", model, roles, output === undefined ? {} : { classes: output }).classes;
  const placed = await placePicture("segment", model, source, signal);
  const { picture, width: inputWidth, height: inputHeight, placement } = placed;
  const outputs = await model.run(picture, { signal });
  // It is an output of the model.
  const { data, shape } = outputs[info.name] as Tensor;
  const [, rows = 1, columns = 1, count = 1] = shape;
  const areShares = count === 1 && !data.every(Number.isInteger);
  const classOf = (cell: number) => {
    if (count === 1) return areShares ? Number(elementAt(data, cell) >= 0.5) : elementAt(data, cell);
    let best = 0;
    for (let index = 1; index < count; index++)
      if (elementAt(data, cell * count + index) > elementAt(data, cell * count + best)) best = index;
    return best;
  };
  const cells = Uint16Array.from({ length: rows * columns }, (_, cell) => classOf(cell));
  const { width, height } = picture;
  const classes = new Uint16Array(width * height);
  const counts = new Map<number, number>();
  const place = (position: number, start: number, scale: number, extent: number, cells: number) =>
    Math.min(cells - 1, Math.max(0, Math.floor((((position + 0.5) * scale + start) * cells) / extent)));
  for (let y = 0; y < height; y++) {
    const row = place(y, placement.top, placement.down, inputHeight, rows);
    for (let x = 0; x < width; x++) {
      const column = place(x, placement.left, placement.across, inputWidth, columns);
      const index = elementAt(cells, row * columns + column);
      classes[y * width + x] = index;
      counts.set(index, (counts.get(index) ?? 0) + 1);
    }
  }
  const names = labels ?? info.labels;
  const areas = [...counts].map(([index, pixels]) => ({
    index,
    label: names?.[index] ?? null,
    share: pixels / (width * height),
  }));
  return { width, height, classes, areas: areas.sort((a, b) => b.share - a.share) };
}
