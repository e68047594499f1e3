/**
 * The kernel of depthwise convolutions. Every part of the output whose windows see the same cells of the filter has code of its own, without
 * conditions. Integers go in pairs of cells: the elements of two cells alternate, so that one instruction multiplies both and adds them.
 */
import type { Code, Local } from "../assembler/code.ts";
import { depthwiseTurns } from "../plan/packing.ts";
import { type DepthwiseStep, type ElementType, elementBytes, type Segment } from "../plan/plan.ts";
import { type Constants, emitExpression, holdConstants, type Leaves } from "./expression.ts";
import type { Regions } from "./kernel.ts";
import { emitMultiplyAdd, loadLanes, storeLanes } from "./lanes.ts";
import { advance, count } from "./loops.ts";
import { storedValue } from "./stored.ts";

/** Locals of the channels at hand. */
interface Places {
  readonly pixel: Local;
  readonly results: Local;
  readonly others: readonly Local[];
  readonly weights: Local;
  /** The byte of the first channel in lists with 32 bits for each. */
  readonly column: Local;
  /** The zero point in each lane of 16 bits, if it is not 0. */
  readonly zero: Local | undefined;
}

/** Loads of eight integers as 16 bits. */
const loads: Readonly<Partial<Record<ElementType, "v128.load8x8_u" | "v128.load">>> = {
  u8: "v128.load8x8_u",
  i16: "v128.load",
};

/** Elements of two vectors, one of each in turn: the first four, and the last four. */
const low = [0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23];
const high = low.map((byte) => byte + 8);

/** Emits the rows [begin, end) of the output, which are the first two parameters. */
export function emitDepthwise(code: Code, step: DepthwiseStep, regions: Regions): void {
  const { source, input, output, window, rows, columns, target, operands, weights, channelsAtOnce } = step;
  const value = storedValue(step.value, target, operands);
  const constants = holdConstants(code, value);
  const bytes = elementBytes[source.type];
  const isPaired = source.type !== "f32";
  const [unit, y, x, batch, rowAddress, at] = Array.from({ length: 6 }, () => code.local("i32")) as [
    Local,
    Local,
    Local,
    Local,
    Local,
    Local,
  ];
  let zero: Local | undefined;
  if (isPaired && source.zeroPoint !== 0) {
    zero = code.local("v128");
    code.given(source.zeroPoint).op("i16x8.splat").set(zero);
  }
  const places: Places = {
    pixel: code.local("i32"),
    results: code.local("i32"),
    others: operands.map(() => code.local("i32")),
    weights: code.local("i32"),
    column: code.local("i32"),
    zero,
  };
  const rowBytes = input.width * input.channels * bytes;
  const [firstChannel, endChannel] = step.part?.channels ?? [0, output.channels];
  const own = endChannel - firstChannel;
  const full = Math.floor(own / channelsAtOnce);
  const rest = own - full * channelsAtOnce;
  const firstResult = (columns[0]?.begin ?? 0) * output.channels + firstChannel;
  const results = [target, ...operands];
  const resultLocals = [places.results, ...places.others];
  const blockBytes = 4 * channelsAtOnce * depthwiseTurns(window, isPaired);
  const some = (rowTaps: Segment, columnTaps: Segment, channels: number) =>
    emitChannels(code, { ...step, value }, regions, places, constants, rowTaps, columnTaps, channels);
  const pixelOf = (rowTaps: Segment, columnTaps: Segment) => {
    const firstColumn =
      columnTaps.begin * window.strideWidth - window.paddingLeft + columnTaps.firstTap * window.dilationWidth;
    code
      .get(rowAddress)
      .i32((firstColumn * input.channels + firstChannel) * bytes)
      .op("i32.add")
      .set(at);
    count(code, x, columnTaps.begin, columnTaps.end, 1, () => {
      code.get(at).set(places.pixel);
      code.given(regions.address(weights) + (firstChannel / channelsAtOnce) * blockBytes).set(places.weights);
      code.i32(4 * firstChannel).set(places.column);
      const move = () => {
        advance(code, places.pixel, channelsAtOnce * bytes);
        for (const [place, { type }] of results.entries()) {
          advance(code, resultLocals[place] ?? 0, channelsAtOnce * elementBytes[type]);
        }
        advance(code, places.weights, blockBytes);
        advance(code, places.column, 4 * channelsAtOnce);
      };
      if (full > 0) {
        code.loop((again) => {
          some(rowTaps, columnTaps, channelsAtOnce);
          move();
          code
            .get(places.column)
            .i32(4 * (firstChannel + channelsAtOnce * full))
            .op("i32.ne")
            .brIf(again);
        });
      }
      if (rest > 0) {
        some(rowTaps, columnTaps, rest);
        for (const [place, { type }] of results.entries())
          advance(code, resultLocals[place] ?? 0, rest * elementBytes[type]);
      }
      for (const [place, { type }] of results.entries())
        advance(code, resultLocals[place] ?? 0, (output.channels - own) * elementBytes[type]);
      advance(code, at, window.strideWidth * input.channels * bytes);
    });
  };
  count(code, unit, { local: 0 }, { local: 1 }, 1, () => {
    code.get(unit).i32(output.height).op("i32.rem_u").set(y);
    code.get(unit).i32(output.height).op("i32.div_u").set(batch);
    for (const [place, { region, type }] of results.entries()) {
      code
        .get(unit)
        .i32(output.width * output.channels * elementBytes[type])
        .op("i32.mul");
      code
        .given(regions.address(region) + firstResult * elementBytes[type])
        .op("i32.add")
        .set(resultLocals[place] ?? 0);
    }
    for (const rowTaps of rows) {
      code.get(y).i32(rowTaps.begin).op("i32.ge_s").get(y).i32(rowTaps.end).op("i32.lt_s").op("i32.and");
      code.if(() => {
        // The first row that the window sees.
        const offset = rowTaps.firstTap * window.dilationHeight - window.paddingTop;
        code.get(y).i32(window.strideHeight).op("i32.mul").i32(offset).op("i32.add").i32(rowBytes).op("i32.mul");
        code
          .get(batch)
          .i32(input.height * rowBytes)
          .op("i32.mul")
          .op("i32.add");
        code.given(regions.address(source.region)).op("i32.add").set(rowAddress);
        for (const columnTaps of columns) pixelOf(rowTaps, columnTaps);
      });
    }
  });
}

/** A cell of the filter: its number, and where its element lies after that of the first cell that the window sees. */
interface Cell {
  readonly tap: number;
  readonly offset: number;
}

function emitChannels(
  code: Code,
  step: DepthwiseStep,
  regions: Regions,
  places: Places,
  constants: Constants,
  rowTaps: Segment,
  columnTaps: Segment,
  channels: number,
): void {
  const { source, input, window, target, operands, bias, value } = step;
  const bytes = elementBytes[source.type];
  const isPaired = source.type !== "f32";
  const vectors = Math.ceil(channels / 4);
  const sums = Array.from({ length: vectors }, () => code.local("v128"));
  for (const [vector, sum] of sums.entries()) {
    code
      .get(places.column)
      .given(regions.address(bias))
      .op("i32.add")
      .op("v128.load", 16 * vector)
      .set(sum);
  }
  const cells = new Map<number, Cell>();
  for (let i = rowTaps.firstTap; i < rowTaps.endTap; i++) {
    for (let j = columnTaps.firstTap; j < columnTaps.endTap; j++) {
      const row = (i - rowTaps.firstTap) * window.dilationHeight;
      const column = (j - columnTaps.firstTap) * window.dilationWidth;
      const tap = i * window.width + j;
      cells.set(tap, { tap, offset: (row * input.width + column) * input.channels * bytes });
    }
  }
  if (isPaired) emitPairs(code, step, places, cells, sums);
  else {
    for (const { tap, offset } of cells.values()) {
      for (const [vector, sum] of sums.entries()) {
        emitMultiplyAdd(code, regions.relaxed, sum, () => {
          code.get(places.pixel).op("v128.load", offset + 16 * vector);
          code.get(places.weights).op("v128.load", 4 * step.channelsAtOnce * tap + 16 * vector);
        });
        code.set(sum);
      }
    }
  }
  for (const [vector, sum] of sums.entries()) {
    const leaves: Leaves = {
      accumulator: () => code.get(sum),
      channel(region) {
        code
          .get(places.column)
          .given(regions.address(region))
          .op("i32.add")
          .op("v128.load", 16 * vector);
      },
      element(operand) {
        const { type } = operands[operand] ?? target;
        loadLanes(code, type, places.others[operand] ?? 0, 4 * vector * elementBytes[type]);
      },
    };
    emitExpression(code, value, leaves, constants);
    code.set(sum);
  }
  const perStore = 16 / elementBytes[target.type] / 4;
  for (let first = 0; first < vectors; first += perStore) {
    const some = sums.slice(first, first + perStore);
    const lanes = Math.min(4 * some.length, channels - 4 * first);
    storeLanes(code, target.type, some, places.results, 4 * first * elementBytes[target.type], lanes);
  }
}

/** Adds the products of the cells, two cells at a time. A cell that the window does not see counts as the zero point. */
function emitPairs(
  code: Code,
  { source, window }: DepthwiseStep,
  { pixel, weights, zero }: Places,
  cells: ReadonlyMap<number, Cell>,
  sums: readonly Local[],
): void {
  const [first, second] = [code.local("v128"), code.local("v128")];
  const load = (cell: Cell | undefined, local: Local) => {
    if (cell === undefined) code.op("v128.const", new Array<number>(16).fill(0));
    else {
      code.get(pixel).op(loads[source.type] ?? "v128.load8x8_s", cell.offset);
      if (zero !== undefined) code.get(zero).op("i16x8.sub");
    }
    code.set(local);
  };
  const taps = window.height * window.width;
  for (let turn = 0; 2 * turn < taps; turn++) {
    const pair = [cells.get(2 * turn), cells.get(2 * turn + 1)] as const;
    if (pair[0] === undefined && pair[1] === undefined) continue;
    load(pair[0], first);
    load(pair[1], second);
    for (const [half, sum] of sums.entries()) {
      code
        .get(sum)
        .get(first)
        .get(second)
        .op("i8x16.shuffle", half === 0 ? low : high);
      code
        .get(weights)
        .op("v128.load", 32 * turn + 16 * half)
        .op("i32x4.dot_i16x8_s")
        .op("i32x4.add")
        .set(sum);
    }
  }
}
