/**
 * Steps whose units take long as steps of shorter ones, with the same results: between units a run looks at the clock. Only large tensors need it, so it
 * is loaded for networks that have some.
 */
import { elementAt, elementCount, stridesOf } from "@nnhal/operations";
import type { Builder } from "./builder.ts";
import { accumulator } from "./expression.ts";
import { turnsOfDepth } from "./packing.ts";
import {
  type DepthwiseStep,
  type ElementwiseStep,
  type ImagePart,
  isControl,
  isLong,
  type MoveStep,
  mostWork,
  type Operand,
  type PoolCells,
  type PoolStep,
  type ProductStep,
  type ReduceStep,
  type RepeatStep,
  type ResizeStep,
  type Segment,
  type SlicePart,
  type Step,
} from "./plan.ts";
import { makeResumable } from "./resumable.ts";

/** More steps than this are not made of one. */
const mostSteps = 4096;

/** The steps with units of at most `most` work, as far as that is possible. */
export function divideSteps(builder: Builder, steps: readonly Step[], most: number = mostWork): Step[] {
  return steps.flatMap((step) => divide(builder, step, most));
}

function divide(builder: Builder, step: Step, most: number): readonly Step[] {
  if (step.kind === "branch")
    return [{ ...step, yes: divideSteps(builder, step.yes, most), no: divideSteps(builder, step.no, most) }];
  if (step.kind === "loop")
    return [{ ...step, test: divideSteps(builder, step.test, most), body: divideSteps(builder, step.body, most) }];
  if (!isLong(step, most)) return [step];
  switch (step.kind) {
    case "elementwise":
      return divideElementwise(step, most);
    case "move":
      return divideMove(step, most);
    case "reduce":
      return divideReduction(builder, step, most);
    case "pool":
      return dividePool(builder, step, most);
    case "depthwise":
    case "resize":
      return divideImage(step, most);
    case "product":
      return divideProduct(builder, step, most);
    case "routine":
      return [makeResumable(builder, step, most)];
    case "repeat":
      return [sliceRepeat(builder, step, most)];
    case "table":
      return [step];
  }
}

/** Loops, the steps of some operands over them, and where the operands begin, in elements. */
interface Box {
  readonly loops: readonly number[];
  readonly steps: readonly (readonly number[])[];
  readonly offsets: readonly number[];
}

/** Boxes that together are one, in which a turn of the first loop has at most `most` elements. */
function cutBox(box: Box, most: number): readonly Box[] {
  const { loops, steps } = box;
  const all = elementCount(loops);
  if (all <= most * (loops[0] ?? 1)) return [box];
  const last = loops.length - 1;
  const fits = (axis: number) => all / (loops[axis] ?? 1) <= most;
  // Rather an outer axis: what lies side by side stays together.
  const outer = [...loops.keys()].find((axis) => axis < last && (loops[axis] ?? 1) > 1 && fits(axis));
  if (outer === undefined && !fits(last)) return halves(box).flatMap((half) => cutBox(half, most));
  const axis = outer ?? last;
  const extent = loops[axis] ?? 1;
  const fitting = Math.max(1, Math.floor(most / (all / extent)));
  const chunk = axis === last && fitting > 64 ? fitting - (fitting % 64) : fitting;
  const count = Math.floor(extent / chunk);
  const part = (turns: number, size: number, begin: number): Box => ({
    loops: [turns, ...loops.with(axis, size)],
    steps: steps.map((each) => [chunk * (each[axis] ?? 0), ...each]),
    offsets: box.offsets.map((offset, place) => offset + begin * (steps[place]?.[axis] ?? 0)),
  });
  const rest = extent - count * chunk;
  return [...(count > 0 ? [part(count, chunk, 0)] : []), ...(rest > 0 ? [part(1, rest, count * chunk)] : [])];
}

/** A box in two, along its longest axis. */
function halves({ loops, steps, offsets }: Box): readonly Box[] {
  const axis = loops.indexOf(Math.max(...loops));
  const extent = loops[axis] ?? 1;
  const half = extent >> 1;
  return [
    { loops: loops.with(axis, half), steps, offsets },
    {
      loops: loops.with(axis, extent - half),
      steps,
      offsets: offsets.map((offset, place) => offset + half * (steps[place]?.[axis] ?? 0)),
    },
  ];
}

/** The operands in a box. */
function placeIn(operands: readonly Operand[], { steps, offsets }: Box): Operand[] {
  return operands.map((operand, place) => ({
    ...operand,
    steps: steps[place] ?? [],
    offset: offsets[place] ?? 0,
  }));
}

function boxOf(loops: readonly number[], operands: readonly Operand[]): Box {
  return { loops, steps: operands.map(({ steps }) => steps), offsets: operands.map(({ offset }) => offset) };
}

/** The units and the work of a step over loops, of which a turn of the first is a unit. */
function unitsOf(loops: readonly number[], perElement: number) {
  return { units: loops[0] ?? 1, work: perElement * elementCount(loops.slice(1)) };
}

function divideElementwise(step: ElementwiseStep, most: number): readonly Step[] {
  const { loops, operands, target } = step;
  // One loop has units of its own.
  if (loops.length === 1) return [step];
  const all = [...operands, target];
  const perElement = step.work / elementCount(loops.slice(1));
  return cutBox(boxOf(loops, all), Math.max(1, Math.floor(most / perElement))).map((box) => {
    const places = placeIn(all, box);
    return {
      ...step,
      loops: box.loops,
      operands: places.slice(0, -1),
      target: places.at(-1) ?? target,
      ...unitsOf(box.loops, perElement),
    };
  });
}

function divideMove(step: MoveStep, most: number): readonly Step[] {
  const { loops, source, target } = step;
  const perElement = step.work / elementCount(loops.slice(1));
  return cutBox(boxOf(loops, [source, target]), Math.max(1, Math.floor(most / perElement))).map((box) => {
    const [from = source, to = target] = placeIn([source, target], box);
    return { ...step, loops: box.loops, source: from, target: to, ...unitsOf(box.loops, perElement) };
  });
}

function divideReduction(builder: Builder, step: ReduceStep, most: number): readonly Step[] {
  const { kept, reduced, source, target } = step;
  const rank = kept.length;
  const perElement = step.work / (elementCount(kept.slice(1)) * elementCount(reduced));
  const perResult = perElement * elementCount(reduced);
  if (perResult <= most) {
    const outer = { ...source, steps: source.steps.slice(0, rank) };
    return cutBox(boxOf(kept, [outer, target]), Math.floor(most / perResult)).map((box) => {
      const [from = source, to = target] = placeIn([outer, target], box);
      const steps = [...from.steps, ...source.steps.slice(rank)];
      return {
        ...step,
        kept: box.loops,
        source: { ...from, steps },
        target: to,
        ...unitsOf(box.loops, perResult),
      };
    });
  }
  // Elements are combined in the same order as in one step.
  const perUnit = elementCount(kept.slice(1)) * perElement;
  const pieces = piecesOf(reduced, source.steps.slice(rank), Math.max(1, Math.floor(most / perUnit)));
  const sums: Operand = {
    region: builder.room(step.start.type === "f32" ? "f32" : "i32", elementCount(kept)),
    type: step.start.type === "f32" ? "f32" : "i32",
    offset: 0,
    steps: stridesOf(kept),
  };
  return pieces.map(({ loops, offset }, place) => {
    const isLast = place === pieces.length - 1;
    return {
      ...step,
      reduced: loops,
      source: { ...source, offset: source.offset + offset },
      target: isLast ? target : sums,
      value: isLast ? step.value : accumulator(step.start.type),
      ...(place > 0 && { begun: sums }),
      work: perUnit * elementCount(loops),
    };
  });
}

/** Parts of loops, in the order of their elements, of at most so many elements each. */
function piecesOf(loops: readonly number[], steps: readonly number[], most: number) {
  const found: { loops: readonly number[]; offset: number }[] = [];
  const add = (axis: number, offset: number): void => {
    const inner = elementCount(loops.slice(axis + 1));
    const [extent = 1, step = 0] = [loops[axis], steps[axis]];
    if (inner > most) {
      for (let turn = 0; turn < extent; turn++) add(axis + 1, offset + turn * step);
      return;
    }
    const chunk = Math.floor(most / inner);
    for (let begin = 0; begin < extent; begin += chunk) {
      const size = Math.min(chunk, extent - begin);
      const own = loops.map((each, place) => (place < axis ? 1 : place === axis ? size : each));
      found.push({ loops: own, offset: offset + begin * step });
    }
  };
  add(0, 0);
  return found;
}

/** Parts [begin, end) of a range, of at most so many each, and not more than `mostParts`. */
function rangesOf(begin: number, end: number, size: number, mostParts = mostSteps): (readonly [number, number])[] {
  const chunk = Math.max(1, Math.floor(size), Math.ceil((end - begin) / mostParts));
  const count = Math.ceil((end - begin) / chunk);
  return Array.from({ length: count }, (_, place) => [
    begin + place * chunk,
    Math.min(end, begin + (place + 1) * chunk),
  ]);
}

/** Kernels compute at most so many channels together. */
const channelsTogether = 8;

/** The parts of an output in which a row has at most so much work; `perChannel`: that of a channel of one pixel. */
function partsOf({ output }: Pick<PoolStep, "output">, perChannel: number, most: number): ImagePart[] {
  const { width, channels } = output;
  const perPixel = perChannel * channels;
  if (perPixel <= most) {
    return rangesOf(0, width, most / perPixel).map((columns) => ({ columns, channels: [0, channels] }));
  }
  const some = Math.max(1, Math.floor(most / perChannel / channelsTogether)) * channelsTogether;
  const ofChannels = rangesOf(0, channels, some);
  const ofColumns = rangesOf(0, width, 1, Math.ceil(mostSteps / ofChannels.length));
  return ofColumns.flatMap((columns) => ofChannels.map((each) => ({ columns, channels: each })));
}

/** The work of a part of a row. */
function workOf({ columns, channels }: ImagePart, perChannel: number): number {
  return perChannel * (columns[1] - columns[0]) * (channels[1] - channels[0]);
}

function divideImage(step: DepthwiseStep | ResizeStep, most: number): readonly Step[] {
  const { width, channels } = step.output;
  const perChannel = step.work / (width * channels);
  return partsOf(step, perChannel, most).map((part): Step => {
    const work = workOf(part, perChannel);
    return step.kind === "resize"
      ? { ...step, part, work }
      : { ...step, part, columns: step.columns.flatMap((segment) => clip(segment, part.columns)), work };
  });
}

/** The part of a segment within some columns. */
function clip(segment: Segment, [first, last]: ImagePart["columns"]): Segment[] {
  const [begin, end] = [Math.max(segment.begin, first), Math.min(segment.end, last)];
  return begin < end ? [{ ...segment, begin, end }] : [];
}

function dividePool(builder: Builder, step: PoolStep, most: number): readonly Step[] {
  const { input, output, window, target } = step;
  const { width, channels } = output;
  const perChannel = step.work / (width * channels);
  // All cells of a few channels.
  if (perChannel * channelsTogether <= most && perChannel * channels <= (most * mostSteps) / Math.max(1, width)) {
    return partsOf(step, perChannel, most).map((part) => ({ ...step, part, work: workOf(part, perChannel) }));
  }
  const seen = (places: number, stride: number, padding: number, extent: number, cells: number) =>
    [Math.max(0, padding - (places - 1) * stride), Math.min(cells, padding + extent)] as const;
  const rows = seen(output.height, window.strideHeight, window.paddingTop, input.height, window.height);
  const columns = seen(output.width, window.strideWidth, window.paddingLeft, input.width, window.width);
  const across = Math.max(1, columns[1] - columns[0]);
  const parts = partsOf(step, 1, Math.min(most, 2 ** 18));
  const lanes = step.pool === "max" && step.source.type !== "f32" ? "i32" : step.source.type === "f32" ? "f32" : "i32";
  const sums = builder.room(lanes, elementCount([output.batches, output.height, width, channels]));
  return parts.flatMap((part) => {
    const cellsAtOnce = Math.max(1, Math.floor(most / workOf(part, 1)));
    const bands =
      cellsAtOnce >= across
        ? rangesOf(rows[0], rows[1], cellsAtOnce / across).map((each) => [each, columns] as const)
        : rangesOf(rows[0], rows[1], 1).flatMap((row) =>
            rangesOf(columns[0], columns[1], cellsAtOnce).map((each) => [row, each] as const),
          );
    return bands.map(([bandRows, bandColumns], place): Step => {
      const isLast = place === bands.length - 1;
      const cells: PoolCells = {
        rows: bandRows,
        columns: bandColumns,
        begun: place === 0 ? undefined : sums,
        isLast,
      };
      return {
        ...step,
        part,
        cells,
        target: isLast ? target : { region: sums, type: lanes },
        work: workOf(part, (bandRows[1] - bandRows[0]) * (bandColumns[1] - bandColumns[0])),
      };
    });
  });
}

/** Products of very deep rows as several, each of which goes on with the sums of the one before. */
function divideProduct(builder: Builder, step: ProductStep, most: number): readonly Step[] {
  const { depth, source, blockRows, target, operands, rows, columns } = step;
  const isPaired = source.type !== "f32";
  const together = isPaired ? 2 : 1;
  const pieces = depthPieces(source.runs, source.length, Math.floor((depth * most) / step.work), together);
  if (pieces === undefined || pieces.length === 1) return [step];
  const lanes = isPaired ? "i32" : "f32";
  const sums = { region: builder.room(lanes, rows * columns), type: lanes } as const;
  const allTurns = turnsOfDepth(depth, isPaired);
  return pieces.map(({ runs, length, first }, place): Step => {
    const isLast = place === pieces.length - 1;
    const own = runs.length * length;
    const scratchBytes = Math.ceil((blockRows * 4 * turnsOfDepth(own, isPaired) + 64) / 64) * 64;
    const others = isLast ? operands : [];
    return {
      ...step,
      depth: own,
      source: { ...source, runs, length, isDirect: false },
      scratch: builder.room("u8", builder.threads * scratchBytes),
      scratchBytes,
      target: isLast ? target : sums,
      operands: place === 0 ? others : [...others, sums],
      value: isLast ? step.value : accumulator(lanes),
      piece: { firstTurn: first / together, allTurns, isBegun: place > 0 },
      work: (step.work * own) / depth,
    };
  });
}

/** Parts of the runs of a row that begin at multiples of `together`; undefined if there are none. */
function depthPieces(runs: readonly number[], length: number, most: number, together: number) {
  const pieces: { runs: readonly number[]; length: number; first: number }[] = [];
  const whole = Math.floor(most / length);
  if (runs.length > 1 && whole >= 1) {
    const some = (whole * length) % together === 0 ? whole : whole - 1;
    if (some < 1) return undefined;
    for (let run = 0; run < runs.length; run += some)
      pieces.push({ runs: runs.slice(run, run + some), length, first: run * length });
    return pieces;
  }
  if (runs.length > 1 && length % together > 0) return undefined;
  const some = Math.max(together, most - (most % together));
  for (const [place, run] of runs.entries()) {
    for (let begin = 0; begin < length; begin += some) {
      const own = Math.min(some, length - begin);
      pieces.push({ runs: [run + begin], length: own, first: place * length + begin });
    }
  }
  return pieces;
}

/** The work of a unit, as other steps count it: see `isLong`. */
function costOf({ kind, work }: Step): number {
  return kind === "product" ? work / 4 : work;
}

/** A turn in slices. Routines inside of turns do not pause. */
function sliceRepeat(builder: Builder, step: RepeatStep, most: number): RepeatStep {
  const steps = step.steps.flatMap((part) =>
    part.kind === "routine" || isControl(part) ? [part] : divide(builder, part, most),
  );
  const slices: SlicePart[][] = [];
  let current: SlicePart[] = [];
  let work = 0;
  for (const [place, part] of steps.entries()) {
    const atOnce = Math.max(1, Math.floor(most / Math.max(1, costOf(part))));
    for (let begin = 0; begin < part.units; begin += atOnce) {
      const end = Math.min(part.units, begin + atOnce);
      const own = (end - begin) * costOf(part);
      if (current.length > 0 && work + own > most) {
        slices.push(current);
        current = [];
        work = 0;
      }
      current.push({ step: place, begin, end });
      work += own;
    }
  }
  slices.push(current);
  const longest = Math.max(
    ...slices.map((slice) =>
      slice.reduce((sum, { step: place, begin, end }) => sum + (end - begin) * costOf(elementAt(steps, place)), 0),
    ),
  );
  return { ...step, steps, slices, units: step.units * slices.length, work: longest };
}
