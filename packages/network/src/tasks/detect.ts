/**
 * Which things are where in a picture.
 */
import type { OptionNames } from "@nnhal/operations";
import { clamp, elementAt } from "@nnhal/operations";
import { check } from "../error.ts";
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { Box } from "../picture/draw.ts";
import type { PictureSource } from "../picture/load-picture.ts";
import { checkLabels } from "../scores.ts";
import { infoText, type Tensor } from "../tensor-info.ts";
import { kindOf, listItems } from "../values.ts";
import { placePicture } from "./picture-input.ts";
import { checkModel, extentsOf, outputsByRole, type Role } from "./roles.ts";

/** A thing in a picture. */
export interface Detection {
  /** The class. */
  readonly index: number;
  /** null if there are no labels, or none for this class. */
  readonly label: string | null;
  readonly score: number;
  /** In pixels of the picture, within it. */
  readonly box: Box;
}

/** Options of detecting. */
export interface DetectOptions {
  /** Things with a lower score are left out. Default: 0.5. */
  readonly threshold?: number | undefined;
  /** Names of the classes. Default: those that are packed with the model. */
  readonly labels?: readonly string[] | undefined;
  /** The names of outputs. Default: by their names in the model or its metadata, else in TensorFlow's order boxes, classes, scores. */
  readonly outputs?: { readonly boxes?: string; readonly classes?: string; readonly scores?: string } | undefined;
  /** The order of a box's numbers, which are shares of the input's size. Default: top, left, bottom, right. */
  readonly order?: readonly (keyof Box)[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

const isList: Role["fits"] = (info) => extentsOf(info).length === 1 && info.shape.length > 1;

const roles = {
  boxes: { names: /box|location/, fits: ({ shape }) => shape.at(-1) === 4 && shape.length > 1 },
  classes: { names: /class|categor|label/, fits: isList },
  scores: { names: /score|confidence|probab/, fits: isList },
} as const satisfies Record<string, Role>;

const tensorFlowOrder: readonly (keyof Box)[] = ["top", "left", "bottom", "right"];

const detectOptions: OptionNames<DetectOptions> = {
  threshold: true,
  labels: true,
  outputs: true,
  order: true,
  signal: true,
};

/**
 * The things that a detector sees in a picture, best first: a model that ends in boxes, classes and scores, such as SSD and EfficientDet
 * with TFLite_Detection_PostProcess.
 */
export function detect(model: Model, source: PictureSource, options: DetectOptions = {}): Promise<Detection[]> {
  return wrapErrors("detect", options, () => detectThings(model, source, options));
}

async function detectThings(model: Model, source: PictureSource, options: DetectOptions): Promise<Detection[]> {
  checkModel("detect", model);
  checkOptions("detect", options, detectOptions);
  checkLabels("detect", options.labels);
  const { threshold = 0.5, labels, order = tensorFlowOrder, signal } = options;
  check(
    typeof threshold === "number" && !Number.isNaN(threshold),
    "BAD_OPTION",
    () => `detect: threshold: expected a number, got ${typeof threshold === "number" ? threshold : kindOf(threshold)}`,
  );
  check(
    Array.isArray(order) && order.length === 4 && tensorFlowOrder.every((edge) => order.includes(edge)),
    "BAD_OPTION",
    () => `detect: order: expected a list of top, left, bottom and right, got ${listItems(order)}`,
  );
  const info = outputsByRole("detect", model, roles, options.outputs);
  const { picture, width, height, pointOf } = await placePicture("detect", model, source, signal);
  const outputs = await model.run(picture, { signal });
  // Each is an output of the model.
  const [boxes, classes, scores] = [info.boxes, info.classes, info.scores].map(
    ({ name }) => outputs[name] as Tensor,
  ) as [Tensor, Tensor, Tensor];
  const names = labels ?? info.classes.labels ?? info.scores.labels;
  const detections: Detection[] = [];
  for (let place = 0; place < scores.data.length; place++) {
    const score = elementAt(scores.data, place);
    if (!(score >= threshold)) continue;
    const edge = (name: keyof Box) => elementAt(boxes.data, 4 * place + order.indexOf(name));
    const first = pointOf(edge("left") * width, edge("top") * height);
    const last = pointOf(edge("right") * width, edge("bottom") * height);
    const index = elementAt(classes.data, place);
    check(
      Number.isInteger(index) && index >= 0,
      "WRONG_TASK",
      () =>
        `detect: expected numbers of classes in the output ${infoText(info.classes)}, got ${index} for thing ${place}`,
    );
    const box = {
      left: clamp(first.x, 0, picture.width),
      top: clamp(first.y, 0, picture.height),
      right: clamp(last.x, 0, picture.width),
      bottom: clamp(last.y, 0, picture.height),
    };
    // A box that lies entirely in the background around the picture is left out.
    if (box.right > box.left && box.bottom > box.top)
      detections.push({ index, label: names?.[index] ?? null, score, box });
  }
  return detections.sort((a, b) => b.score - a.score);
}
