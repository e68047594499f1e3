/**
 * Peak of the machine, as far as a program can find it out by itself: the yardstick for the figures of networks.
 */
import { messageOf } from "../failure.ts";
import { oneLine } from "../text.ts";
import { matrixProduct } from "./onnx-product.ts";
import { createPeakLoops, operationsOfPass } from "./peak-loops.ts";
import { whyNoPeer } from "./peer-packages.ts";

/** The kind of numbers that a network mostly computes with. `integer`: types of 8 bits. */
export type Arithmetic = "float" | "integer";

/** One way to find the peak. */
export interface Peak {
  /** Computation that was measured. */
  readonly how: string;
  readonly threads: number;
  /** Thousand million operations in a second; a multiply-add is two. Null if it could not be measured. */
  readonly float: number | null;
  readonly integer: number | null;
}

/** The fastest is taken of at least so many runs: short ones, which other programs seldom interrupt. */
const leastRuns = 10;
/** Milliseconds of runs at least. Products are slow at first, while processors change their clock and memory of what came before is freed. */
const duration = { loops: 100, products: 250 };
/** About a millisecond of passes through a loop. */
const passes = 1 << 19;
/** The extents of matrices whose products are fastest. */
const matrixSizes: Readonly<Record<Arithmetic, number>> = { float: 512, integer: 1024 };

/** Measures the peaks. Takes about a second. */
export async function calibrate(threads: number, now: () => number): Promise<readonly Peak[]> {
  return [await loops(now), ...(whyNoPeer("onnxruntime") === undefined ? [await products(threads, now)] : [])];
}

/** The greatest peak of an arithmetic; undefined if there is none. */
export function greatest(peaks: readonly Peak[], arithmetic: Arithmetic): number | undefined {
  const known = peaks.flatMap((peak) => peak[arithmetic] ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
}

async function loops(now: () => number): Promise<Peak> {
  const found = createPeakLoops();
  const rate = async (arithmetic: Arithmetic) => {
    if (found === undefined) return null;
    const operations = passes * operationsOfPass[arithmetic];
    return fastest(operations, () => void found[arithmetic](passes), duration.loops, now);
  };
  return {
    how: "WebAssembly SIMD on registers of 128 bits: multiply and add of float32, products of int16 added in pairs",
    threads: 1,
    float: await rate("float"),
    integer: await rate("integer"),
  };
}

async function products(threads: number, now: () => number): Promise<Peak> {
  const [ofFloats, ofBytes] = [matrixSizes.float, matrixSizes.integer].map((size) => `${size} x ${size}`);
  const how = `products of matrices in onnxruntime: ${ofFloats} of float32, and ${ofBytes} of uint8 by int8`;
  const rate = (arithmetic: Arithmetic) => product(arithmetic, threads, now);
  try {
    // Integers first, which lose less by what the process still does at its start.
    const integer = await rate("integer");
    return { how, threads, float: await rate("float"), integer };
  } catch (error) {
    return { how: `${how}: ${oneLine(messageOf(error))}`, threads, float: null, integer: null };
  }
}

/** Thousand million operations in a second of products of matrices. */
async function product(arithmetic: Arithmetic, threads: number, now: () => number): Promise<number> {
  const size = matrixSizes[arithmetic];
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const session = await InferenceSession.create(matrixProduct(arithmetic, size), {
    intraOpNumThreads: threads,
    logSeverityLevel: 3,
  });
  const shape = [size, size];
  const a =
    arithmetic === "float"
      ? new Tensor("float32", new Float32Array(size ** 2).fill(1), shape)
      : new Tensor("uint8", new Uint8Array(size ** 2).fill(1), shape);
  try {
    const c = await session.run({ a });
    return await fastest(2 * size ** 3, () => session.run({ a }, c), duration.products, now);
  } finally {
    await session.release();
  }
}

/** Thousand million operations in a second, of the fastest of the runs that begin within some milliseconds. */
async function fastest(
  operations: number,
  run: () => unknown,
  milliseconds: number,
  now: () => number,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  const end = now() + milliseconds;
  for (let done = 0; done < leastRuns || now() < end; done++) {
    const start = now();
    await run();
    least = Math.min(least, now() - start);
    // Lets the compiler of WebAssembly replace its quick code with the optimised one.
    await new Promise(setImmediate);
  }
  return operations / least / 1e6;
}
