/**
 * What the machine can compute at most, as far as a program can find out by itself: the yardstick for the figures of networks.
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
  /** What was measured. */
  readonly how: string;
  readonly threads: number;
  /** Thousand million operations in a second; a multiply-add is two. Null if it could not be measured. */
  readonly float: number | null;
  readonly integer: number | null;
}

/** How many runs the fastest is taken of: short ones, which other programs seldom interrupt. */
const times = 40;
/** About a millisecond of passes through a loop. */
const passes = 1 << 19;
const matrixSize = 512;

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
    return fastest(passes * operationsOfPass[arithmetic], () => void found[arithmetic](passes), now);
  };
  return {
    how: "WebAssembly SIMD on registers of 128 bits: multiply and add of float32, products of int16 added in pairs",
    threads: 1,
    float: await rate("float"),
    integer: await rate("integer"),
  };
}

async function products(threads: number, now: () => number): Promise<Peak> {
  const how = `products of matrices of ${matrixSize} x ${matrixSize} in onnxruntime: float32, and uint8 by int8`;
  const rate = async (arithmetic: Arithmetic) => {
    const { InferenceSession, Tensor } = await import("onnxruntime-node");
    const session = await InferenceSession.create(matrixProduct(arithmetic, matrixSize), {
      intraOpNumThreads: threads,
      logSeverityLevel: 3,
    });
    const shape = [matrixSize, matrixSize];
    const ones = {
      float: () => new Float32Array(matrixSize ** 2).fill(1),
      integer: () => new Uint8Array(matrixSize ** 2).fill(1),
    };
    const a =
      arithmetic === "float" ? new Tensor("float32", ones.float(), shape) : new Tensor("uint8", ones.integer(), shape);
    try {
      const c = await session.run({ a });
      return await fastest(2 * matrixSize ** 3, () => session.run({ a }, c), now);
    } finally {
      await session.release();
    }
  };
  try {
    return { how, threads, float: await rate("float"), integer: await rate("integer") };
  } catch (error) {
    return { how: `${how}: ${oneLine(messageOf(error))}`, threads, float: null, integer: null };
  }
}

/** Thousand million operations in a second, of the fastest of some runs. */
async function fastest(operations: number, run: () => unknown, now: () => number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let done = 0; done < times; done++) {
    const start = now();
    await run();
    least = Math.min(least, now() - start);
    // Lets the compiler of WebAssembly replace its quick code with the optimised one.
    await new Promise(setImmediate);
  }
  return operations / least / 1e6;
}
