/** DETECTION_POSTPROCESSING: boxes from anchors, of which the best are chosen by suppression. */
import type { KernelTensor } from "@nnhal/backend";
import type { OperationArgs, TensorInfo } from "@nnhal/operations";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { makeInteger, real } from "./expression.ts";
import { calc, choose, type Formula, integer, realNumber } from "./formula.ts";
import type { LoweringTable } from "./lowering.ts";
import { exponentialOf, powersOfTwo } from "./real-functions.ts";
import { addRoutine, type Place, type Routine } from "./routine.ts";

type Args = OperationArgs<"DETECTION_POSTPROCESSING", KernelTensor>;

/** Corners (y1, x1, y2, x2) of the anchors, moved by the deltas; and the best score of each, of all classes but the background. */
function addBoxes(args: Args, builder: Builder) {
  const { scores, deltas, anchors } = args;
  const [batches = 1, count = 1, classes = 1] = scores.dimensions;
  const encoding = deltas.dimensions[2] ?? 4;
  const [points, moves, given] = [builder.read(scores), builder.read(deltas), builder.read(anchors)];
  const table = powersOfTwo(builder);
  const [boxes, best] = [builder.value("f32", [batches * count, 4]), builder.value("f32", [batches * count])];
  addRoutine(builder, "DETECTION_POSTPROCESSING", batches * count, 120 + 2 * classes, (routine) => {
    const [delta, anchor, powers] = [routine.read(moves), routine.read(given), routine.read(table)];
    const [corners, tops, rows] = [routine.write(boxes), routine.write(best), routine.read(points)];
    const from = routine.local(calc("mul", routine.unit, encoding));
    const at = routine.local(calc("mul", calc("rem", routine.unit, count), 4));
    const to = routine.local(calc("mul", routine.unit, 4));
    const side = (axis: 0 | 1, shift: number, stretch: number) => {
      const size = routine.local(anchor.at(calc("add", at, 2 + axis)));
      const move = calc("div", calc("mul", size, delta.at(calc("add", from, axis))), shift);
      const centre = routine.local(calc("add", anchor.at(calc("add", at, axis)), move));
      const power = routine.local(calc("div", delta.at(calc("add", from, 2 + axis)), stretch));
      const half = routine.local(calc("div", calc("mul", size, exponentialOf(routine, powers, power)), 2));
      routine.store(corners, calc("add", to, axis), calc("sub", centre, half));
      routine.store(corners, calc("add", to, 2 + axis), calc("add", centre, half));
    };
    side(0, args.scaleY, args.scaleHeight);
    side(1, args.scaleX, args.scaleWidth);
    const top = routine.local(realNumber(Number.NEGATIVE_INFINITY));
    const row = routine.local(calc("mul", routine.unit, classes));
    routine.each(1, classes, (label) => routine.set(top, calc("max", top, rows.at(calc("add", row, label)))));
    routine.store(tops, routine.unit, top);
  });
  return { boxes, best };
}

/** The share of two boxes in what both cover. */
function overlapOf(routine: Routine, boxes: Place, a: Formula, b: Formula): Formula {
  const cornersAt = (box: Formula) => {
    const at = routine.local(calc("mul", box, 4));
    return [0, 1, 2, 3].map((side) => routine.local(boxes.at(calc("add", at, side)))) as [
      Formula,
      Formula,
      Formula,
      Formula,
    ];
  };
  const [[top, left, bottom, right], [top2, left2, bottom2, right2]] = [cornersAt(a), cornersAt(b)];
  const extent = (end: Formula, otherEnd: Formula, begin: Formula, otherBegin: Formula) =>
    calc("max", realNumber(0), calc("sub", calc("min", end, otherEnd), calc("max", begin, otherBegin)));
  const shared = routine.local(calc("mul", extent(bottom, bottom2, top, top2), extent(right, right2, left, left2)));
  const area = calc("mul", calc("sub", bottom, top), calc("sub", right, left));
  const otherArea = calc("mul", calc("sub", bottom2, top2), calc("sub", right2, left2));
  return calc("div", shared, calc("sub", calc("add", area, otherArea), shared));
}

/** The boxes left of a suppression, and where their scores are. */
interface Candidates {
  readonly list: Place;
  /** The first place of the list. */
  readonly first: Formula;
  readonly count: Formula;
  readonly boxes: Place;
  readonly scoreOf: (box: Formula) => Formula;
}

/** Chooses the best candidate again and again, and drops those that overlap it; of equal ones the first is best. Their order stays. */
function suppress(
  routine: Routine,
  { list, first, count, boxes, scoreOf }: Candidates,
  most: number,
  overlapThreshold: number,
  take: (box: Formula) => void,
): void {
  const chosen = routine.local(integer(0));
  routine.repeat(calc("and", calc("gt", count, 0), calc("lt", chosen, most)), () => {
    const best = routine.local(integer(0));
    const greatest = routine.local(scoreOf(routine.local(list.at(first))));
    routine.each(1, count, (place) => {
      const score = routine.local(scoreOf(routine.local(list.at(calc("add", first, place)))));
      routine.when(calc("gt", score, greatest), () => {
        routine.set(greatest, score);
        routine.set(best, place);
      });
    });
    const box = routine.local(list.at(calc("add", first, best)));
    take(box);
    const kept = routine.local(integer(0));
    routine.each(0, count, (place) => {
      routine.when(calc("ne", place, best), () => {
        const other = routine.local(list.at(calc("add", first, place)));
        const isDropped = calc("ge", overlapOf(routine, boxes, other, box), overlapThreshold);
        routine.when(calc("eq", isDropped, 0), () => {
          routine.store(list, calc("add", first, kept), other);
          routine.set(kept, calc("add", kept, 1));
        });
      });
    });
    routine.set(count, kept);
    routine.set(chosen, calc("add", chosen, 1));
  });
}

/** Adds a candidate to a list of the best, behind those of the same score; the last one goes if there are too many. */
function insert(
  routine: Routine,
  [values, places]: readonly [Place, Place],
  first: Formula,
  count: Formula,
  most: number,
  score: Formula,
  candidate: Formula,
): void {
  const at = routine.local(count);
  routine.when(calc("lt", count, most), () => routine.set(count, calc("add", count, 1)));
  const before = (by: number) => calc("add", first, calc("sub", at, by));
  const isFirst = calc(
    "gt",
    score,
    values.at(calc("add", first, calc("sub", at, choose(calc("gt", at, 0), integer(1), at)))),
  );
  routine.repeat(choose(calc("gt", at, 0), isFirst, integer(0)), () => {
    routine.when(calc("lt", at, most), () => {
      routine.store(values, before(0), values.at(before(1)));
      routine.store(places, before(0), places.at(before(1)));
    });
    routine.set(at, calc("sub", at, 1));
  });
  routine.when(calc("lt", at, most), () => {
    routine.store(values, before(0), score);
    routine.store(places, before(0), candidate);
  });
}

/** Adds the routine that chooses, one unit for each batch. */
function addChoice(args: Args, outputs: readonly [Value, Value, Value, Value], builder: Builder): void {
  const { scores, useRegularNms, most, mostPerClass, overlapThreshold, scoreThreshold, isBackgroundInLabel } = args;
  const [batches = 1, count = 1, classes = 1] = scores.dimensions;
  const { boxes: corners, best } = addBoxes(args, builder);
  const points = builder.read(scores);
  const [, boxTarget] = outputs;
  const [, detections = 0] = boxTarget.dimensions;
  const room = builder.value("i32", [batches, count]);
  const wanted = useRegularNms ? most : Math.max(1, Math.min(classes - 1, args.mostClassesPerDetection));
  const [bestScores, bestPlaces] = [builder.value("f32", [batches, wanted]), builder.value("i32", [batches, wanted])];
  const work = count * (classes + 40 * (useRegularNms ? mostPerClass * classes : most));
  addRoutine(builder, "DETECTION_POSTPROCESSING", batches, work, (routine) => {
    const [boxes, tops, rows] = [routine.read(corners), routine.read(best), routine.read(points)];
    const [toScores, toBoxes, toClasses, toCounts] = outputs.map((value) => routine.write(value)) as [
      Place,
      Place,
      Place,
      Place,
    ];
    const [list, values, places] = [room, bestScores, bestPlaces].map((value) => routine.write(value)) as [
      Place,
      Place,
      Place,
    ];
    const first = routine.local(calc("mul", routine.unit, count));
    const firstBest = routine.local(calc("mul", routine.unit, wanted));
    const firstResult = routine.local(calc("mul", routine.unit, detections));
    const found = routine.local(integer(0));
    const bests = routine.local(integer(0));
    const scoreAt = (candidate: Formula) => rows.at(candidate);
    const emit = (candidate: Formula) => {
      const at = routine.local(calc("add", firstResult, found));
      routine.store(toScores, at, scoreAt(candidate));
      const box = calc("div", candidate, classes);
      routine.copy(boxes, calc("mul", box, 4), toBoxes, calc("mul", at, 4), 4);
      routine.store(toClasses, at, calc("sub", calc("rem", candidate, classes), isBackgroundInLabel ? 0 : 1));
      routine.set(found, calc("add", found, 1));
    };
    const drain = () => {
      routine.each(0, bests, (place) => emit(routine.local(places.at(calc("add", firstBest, place)))));
      routine.set(bests, 0);
    };
    /** The boxes of which a score is above the threshold, as candidates. */
    const candidatesOf = (scoreOf: (box: Formula) => Formula): Candidates => {
      const candidates = routine.local(integer(0));
      routine.each(0, count, (place) => {
        const box = routine.local(calc("add", first, place));
        routine.when(calc("gt", scoreOf(box), scoreThreshold), () => {
          routine.store(list, calc("add", first, candidates), box);
          routine.set(candidates, calc("add", candidates, 1));
        });
      });
      return { list, first, count: candidates, boxes, scoreOf };
    };
    const add = (candidate: Formula) =>
      insert(routine, [values, places], firstBest, bests, wanted, routine.local(scoreAt(candidate)), candidate);
    if (useRegularNms) {
      routine.each(1, classes, (label) => {
        const candidateOf = (box: Formula) => calc("add", calc("mul", box, classes), label);
        const left = candidatesOf((box) => scoreAt(candidateOf(box)));
        suppress(routine, left, mostPerClass, overlapThreshold, (box) => add(routine.local(candidateOf(box))));
      });
      drain();
    } else {
      suppress(
        routine,
        candidatesOf((box) => tops.at(box)),
        most,
        overlapThreshold,
        (box) => {
          const row = routine.local(calc("mul", box, classes));
          routine.each(1, classes, (label) => add(routine.local(calc("add", row, label))));
          drain();
        },
      );
    }
    routine.store(toCounts, routine.unit, found);
  });
}

/** The lowerings. */
export const detections: LoweringTable = {
  DETECTION_POSTPROCESSING(args, { chosenScores, chosenBoxes, chosenClasses, counts }, builder) {
    const outputs = [chosenScores, chosenBoxes, chosenClasses, counts].map((info: TensorInfo) =>
      outputOf(builder, info),
    ) as [Value, Value, Value, Value];
    for (const target of outputs)
      addElementwise(
        builder,
        "DETECTION_POSTPROCESSING",
        [],
        target,
        target.type === "f32" ? real(0) : makeInteger(0),
        1,
      );
    addChoice(args, outputs, builder);
    return outputs;
  },
};
