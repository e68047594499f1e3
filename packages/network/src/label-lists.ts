/**
 * Names of the classes of data sets that many public networks are made with, for files that do not have them.
 */

/** The 80 classes of things of COCO 2017, in the order of their numbers, without gaps: what YOLO and others count. */
export const coco80Labels: readonly string[] = /* @__PURE__ */ namesIn(
  "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign, " +
    "parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, " +
    "handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, " +
    "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, " +
    "broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, " +
    "laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, " +
    "scissors, teddy bear, hair drier, toothbrush",
);

/** Numbers of COCO, from 1, that no class of things has. */
const cocoGaps: readonly number[] = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];

/** Stands in lists of labels for a number without a class. */
const noClass = "???";

/**
 * The classes of COCO 2017 by their own numbers minus 1: 90 names, of which 10 are `???`. The detectors of TensorFlow (SSD, EfficientDet) count so.
 */
export const cocoLabels: readonly string[] = /* @__PURE__ */ withGaps(coco80Labels, cocoGaps);

/** The 21 classes of PASCAL VOC 2012: 0 is the background. DeepLab counts so. */
export const pascalVocLabels: readonly string[] = /* @__PURE__ */ namesIn(
  "background, aeroplane, bicycle, bird, boat, bottle, bus, car, cat, chair, cow, dining table, dog, horse, " +
    "motorbike, person, potted plant, sheep, sofa, train, tv",
);

/** The marks of purity let bundlers leave out what an application does not use. */
function namesIn(list: string): readonly string[] {
  return list.split(", ");
}

function withGaps(names: readonly string[], gaps: readonly number[]): readonly string[] {
  const left = [...names];
  return Array.from({ length: names.length + gaps.length }, (_, place) =>
    gaps.includes(place + 1) ? noClass : (left.shift() ?? noClass),
  );
}
