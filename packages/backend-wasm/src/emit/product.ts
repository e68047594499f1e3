/**
 * The kernel of products. Tiles of rows and columns are kept in locals while the depth is walked: one row element in all lanes times vectors of
 * weights. Integers go in pairs: one instruction multiplies eight numbers of 16 bits and adds neighbours.
 */
import type { Code, Local } from "../assembler/code.ts";
import { elementBytes, type ProductStep, type Target } from "../plan/plan.ts";
import { emitExpression, holdConstants, type Leaves } from "./expression.ts";
import { emitGather } from "./gather.ts";
import { type Regions, threadLocal } from "./kernel.ts";
import { emitMultiplyAdd, loadLanes, storeLanes } from "./lanes.ts";
import { advance, count } from "./loops.ts";
import { storedValue } from "./stored.ts";

/** Locals that all tiles of a block share. */
interface Places {
  /** The first row of the tile: its elements, its results, those of the other operands. */
  readonly row: Local;
  readonly results: Local;
  readonly others: readonly Local[];
  /** The panel of weights, and the byte of its first column in lists with 32 bits for each. */
  readonly panel: Local;
  readonly column: Local;
}

/** True if the factors are pairs of integers. */
export function isPaired({ source }: ProductStep): boolean {
  return source.type !== "f32";
}

/** Turns of the loop over the depth; each reads 4 bytes of a row. */
export function depthTurns(step: ProductStep): number {
  return isPaired(step) ? Math.ceil(step.depth / 2) : step.depth;
}

/** Sets the first row of a block, and the number of its rows: the last one may have fewer. */
function startBlock(
  code: Code,
  { blockRows, rows, groups }: ProductStep,
  block: Local,
  blockRow: Local,
  left: Local,
): void {
  code.get(block);
  if (groups > 1) code.i32(groups).op("i32.div_u");
  code.i32(blockRows).op("i32.mul").set(blockRow);
  code.i32(blockRows).i32(rows).get(blockRow).op("i32.sub").tee(left);
  code.i32(blockRows).get(left).op("i32.lt_s").op("select").set(left);
}

/** Emits the blocks [begin, end), which are the first two parameters. */
export function emitProduct(code: Code, step: ProductStep, regions: Regions): void {
  const { rows, columns, tile, blockRows, groups, source, target, operands, scratch } = step;
  const [block, left, rowsLeft, blockRow] = [
    code.local("i32"),
    code.local("i32"),
    code.local("i32"),
    code.local("i32"),
  ];
  const places: Places = {
    row: code.local("i32"),
    results: code.local("i32"),
    others: operands.map(() => code.local("i32")),
    panel: code.local("i32"),
    column: code.local("i32"),
  };
  const rowBytes = 4 * depthTurns(step);
  const width = 4 * tile.vectors;
  const fullPanels = Math.floor(columns / width);
  const rest = columns - fullPanels * width;
  const { firstTurn = 0, allTurns = depthTurns(step) } = step.piece ?? {};
  const panelBytes = 4 * width * allTurns;
  const firstRow = code.local("i32");
  const panelsOfGroup = Math.ceil(fullPanels / groups);
  const [firstPanel, endPanel] = groups > 1 ? [code.local("i32"), code.local("i32")] : [0, 0];
  count(code, block, { local: 0 }, { local: 1 }, 1, () => {
    startBlock(code, step, block, blockRow, left);
    if (source.isDirect) {
      code.get(blockRow).i32(rowBytes).op("i32.mul").given(regions.address(source.region)).op("i32.add").set(firstRow);
    } else {
      code.given(regions.address(scratch ?? 0));
      if (regions.threads > 1) code.get(threadLocal).i32(step.scratchBytes).op("i32.mul").op("i32.add");
      code.set(firstRow);
      emitGather(code, source, regions.address(source.region), firstRow, rowBytes, blockRow, left);
    }
    const startTile = () => {
      code.get(firstRow).set(places.row);
      const begin = (local: Local, { region, type }: Target) => {
        const bytes = elementBytes[type];
        code
          .get(blockRow)
          .i32(columns * bytes)
          .op("i32.mul")
          .given(regions.address(region))
          .op("i32.add");
        code.get(places.column);
        if (bytes < 4) code.i32(bytes === 1 ? 2 : 1).op("i32.shr_u");
        code.op("i32.add").set(local);
      };
      begin(places.results, target);
      for (const [place, operand] of operands.entries()) begin(places.others[place] ?? 0, operand);
      code.get(left).set(rowsLeft);
    };
    const panel = (columnsHere: number) => {
      startTile();
      const tileOf = (tileRows: number) => emitTile(code, step, regions, places, tileRows, columnsHere);
      const next = (tileRows: number) => {
        advance(code, places.row, tileRows * rowBytes);
        for (const [place, { type }] of [target, ...operands].entries()) {
          const local = place === 0 ? places.results : (places.others[place - 1] ?? 0);
          advance(code, local, tileRows * columns * elementBytes[type]);
        }
        advance(code, rowsLeft, -tileRows);
      };
      if (blockRows >= tile.rows) {
        code.block((done) => {
          code.loop((again) => {
            code.get(rowsLeft).i32(tile.rows).op("i32.lt_s").brIf(done);
            tileOf(tile.rows);
            next(tile.rows);
            code.br(again);
          });
        });
      }
      // Only the last block has a rest.
      const last = rows % tile.rows;
      if (last > 0) code.get(rowsLeft).if(() => tileOf(last));
    };
    if (groups === 1) {
      code.i32(0).set(places.column);
      code.given(regions.address(step.weights) + firstTurn * 4 * width).set(places.panel);
    } else {
      code.get(block).i32(groups).op("i32.rem_u").i32(panelsOfGroup).op("i32.mul").tee(firstPanel);
      code
        .i32(4 * width)
        .op("i32.mul")
        .set(places.column);
      code
        .get(firstPanel)
        .i32(panelBytes)
        .op("i32.mul")
        .given(regions.address(step.weights) + firstTurn * 4 * width)
        .op("i32.add");
      code.set(places.panel);
      code.get(firstPanel).i32(panelsOfGroup).op("i32.add").tee(endPanel).i32(fullPanels);
      code.get(endPanel).i32(fullPanels).op("i32.lt_s").op("select").set(endPanel);
    }
    const eachPanel = (columnsHere: number) => {
      panel(columnsHere);
      advance(code, places.column, 4 * width);
      advance(code, places.panel, panelBytes);
    };
    if (groups > 1) {
      count(code, firstPanel, { local: firstPanel }, { local: endPanel }, 1, () => eachPanel(width));
      // The rest belongs to the last part.
      if (rest > 0) {
        code
          .get(block)
          .i32(groups)
          .op("i32.rem_u")
          .i32(groups - 1)
          .op("i32.eq");
        code.if(() => panel(rest));
      }
      return;
    }
    if (fullPanels === 1) eachPanel(width);
    else if (fullPanels > 1) count(code, code.local("i32"), 0, fullPanels, 1, () => eachPanel(width));
    if (rest > 0) panel(rest);
  });
}

/** Loads the sums that the pieces before have come to. */
function loadSums(code: Code, { operands, columns }: ProductStep, places: Places, sums: readonly (readonly Local[])[]) {
  const last = operands.length - 1;
  const { type } = operands[last] ?? { type: "f32" };
  for (const [row, locals] of sums.entries()) {
    for (const [vector, sum] of locals.entries()) {
      loadLanes(code, type, places.others[last] ?? 0, (row * columns + 4 * vector) * elementBytes[type]);
      code.set(sum);
    }
  }
}

/** Computes and stores `tileRows` rows of one panel, of which `columnsHere` columns count. */
function emitTile(
  code: Code,
  step: ProductStep,
  regions: Regions,
  places: Places,
  tileRows: number,
  columnsHere: number,
): void {
  const { columns, tile, target, operands, bias } = step;
  const vectors = Math.ceil(columnsHere / 4);
  const turns = depthTurns(step);
  const rowBytes = 4 * turns;
  const paired = isPaired(step);
  const sums = Array.from({ length: tileRows }, () => Array.from({ length: vectors }, () => code.local("v128")));
  const weights = Array.from({ length: vectors }, () => code.local("v128"));
  const [factor, at, end, from] = [code.local("v128"), code.local("i32"), code.local("i32"), code.local("i32")];
  if (step.piece?.isBegun) loadSums(code, step, places, sums);
  else {
    for (let vector = 0; vector < vectors; vector++) {
      code
        .get(places.column)
        .given(regions.address(bias))
        .op("i32.add")
        .op("v128.load", 16 * vector);
      for (const row of sums.slice(1)) code.tee(row[vector] ?? 0);
      code.set(sums[0]?.[vector] ?? 0);
    }
  }
  code.get(places.row).tee(at).i32(rowBytes).op("i32.add").set(end);
  code.get(places.panel).set(from);
  code.loop((again) => {
    for (const [vector, local] of weights.entries())
      code
        .get(from)
        .op("v128.load", 16 * vector)
        .set(local);
    for (const [row, locals] of sums.entries()) {
      code
        .get(at)
        .op("v128.load32_splat", row * rowBytes)
        .set(factor);
      for (const [vector, sum] of locals.entries()) {
        const factors = () => code.get(factor).get(weights[vector] ?? 0);
        if (paired) {
          code.get(sum);
          factors().op("i32x4.dot_i16x8_s").op("i32x4.add");
        } else emitMultiplyAdd(code, regions.relaxed, sum, factors);
        code.set(sum);
      }
    }
    advance(code, from, 16 * tile.vectors);
    code.get(at).i32(4).op("i32.add").tee(at).get(end).op("i32.ne").brIf(again);
  });
  const value = storedValue(step.value, target, operands);
  // After the loop, in which there are no registers left for them.
  const constants = holdConstants(code, value);
  for (const [row, locals] of sums.entries()) {
    for (const [vector, sum] of locals.entries()) {
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
          loadLanes(code, type, places.others[operand] ?? 0, (row * columns + 4 * vector) * elementBytes[type]);
        },
      };
      emitExpression(code, value, leaves, constants);
      code.set(sum);
    }
    const bytes = elementBytes[target.type];
    // A vector of bytes has 16 lanes. Neighbours that are joined are stored together, and no others with them.
    const atOnce = Math.min(16 / bytes / 4, regions.isWide ? 2 : 4);
    for (let first = 0; first < locals.length; first += atOnce) {
      const some = locals.slice(first, first + atOnce);
      const lanes = Math.min(4 * some.length, columnsHere - 4 * first);
      storeLanes(code, target.type, some, places.results, (row * columns + 4 * first) * bytes, lanes);
    }
  }
}
