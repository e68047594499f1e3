/** The tiles of products: which part of the result is kept in registers while the depth is walked, and how many rows share a pass over the weights. */

/** The factors of a product: pairs of integers, or floats. */
export type FactorKind = "pairs" | "floats";

/** The sums that a tile keeps at once, by the factors. */
export type TileSums = Readonly<Record<FactorKind, number>>;

/** Without others: V8 moves more than 8 to memory and back on processors with 16 registers. */
export const narrowSums: TileSums = { pairs: 8, floats: 8 };

/** Those if two vectors share a register. */
export const wideSums: TileSums = { pairs: 20, floats: 20 };

/** The numbers of sums that are compared with each other, that of the table first: processors have 16 or 32 registers. */
export const sumsToCompare: readonly number[] = [8, 12, 16];

/** The columns of a panel are read at once from lists that are filled up to 32 numbers. */
const mostVectors = 8;

/** Bytes of the rows of a block: they stay in the second cache beside a panel of weights. */
const blockBytes = 1 << 17;

/** Units of a product for each thread, if there are several: each has work to the end. */
const unitsPerThread = 3;

/** Work of a unit below which several threads gain nothing. */
const leastWork = 2 ** 13;

/** The tile of a product of these extents, and the rows of a block: fewer for several threads, so that each has some. */
export function tileFor(rows: number, depth: number, columns: number, sums: number, isPaired: boolean, threads = 1) {
  const most = Math.min(Math.ceil(columns / 4), mostVectors);
  // Four or six rows of two vectors, and four or five of four, read least for what they compute; few rows or few columns leave room for more of the other.
  const vectors = Math.min(most, rows >= 4 ? (sums < 16 ? 2 : 4) : Math.floor(sums / rows));
  const tile = { rows: Math.min(rows, Math.floor(sums / vectors)), vectors };
  const rowBytes = isPaired ? 4 * Math.ceil(depth / 2) : 4 * depth;
  const fitting = Math.max(1, Math.floor(blockBytes / rowBytes / tile.rows));
  const tiles = Math.ceil(rows / tile.rows);
  const shared = threads > 1 ? Math.ceil(tiles / (unitsPerThread * threads)) : tiles;
  const blockRows = Math.min(fitting, shared) * tile.rows;
  return { tile, blockRows };
}

/** Work of a block of rows above which its columns are computed in parts: it takes about 10 ms. */
const mostWork = 2 ** 24;

/**
 * The parts of the columns of a block that has so much work, each of whole panels. `blocks`, `threads`: more parts if there are several threads and fewer blocks
 * than they need.
 */
export function groupsFor(work: number, columns: number, vectors: number, blocks = 1, threads = 1): number {
  const panels = Math.max(1, Math.floor(columns / (4 * vectors)));
  const long = work <= mostWork ? 1 : Math.ceil((4 * work) / mostWork);
  const few = threads === 1 ? 1 : Math.ceil((unitsPerThread * threads) / blocks);
  const wanted = Math.max(long, Math.min(few, Math.floor(work / leastWork)));
  if (wanted <= 1) return 1;
  // The last part has at least one whole panel.
  const panelsOfGroup = Math.ceil(panels / wanted);
  return Math.ceil(panels / panelsOfGroup);
}
