/** Runs whose outputs get memory of the size that the run determines. */
import type { Burst } from "./burst.ts";
import type { Execution } from "./execution.ts";
import { NeuralNetworksError, ResultCode } from "./result-code.ts";

/** An output with the extents that the run determined. */
export interface ComputedOutput {
  /** Empty for a scalar. */
  readonly dimensions: readonly number[];
  readonly bytes: Uint8Array;
}

/** Memory for the outputs of `computeOutputs`. */
export interface OutputMemory {
  /** The bytes of each output, as far as the model determines them; 0 for one of open extents. */
  readonly sizes: readonly number[];
  /** Returns the bytes of an output of these extents. */
  readonly sizeOf: (output: number, dimensions: readonly number[]) => number;
  /** Memory for some outputs, which is used if its length is right. Default: none. */
  readonly into?: readonly (Uint8Array | undefined)[];
  /** The burst that runs the execution. Default: it runs by itself. */
  readonly burst?: Burst | undefined;
}

/**
 * Computes a model with memory for all of its outputs. If it is too little, as it is for outputs of open extents, computes once more with as
 * much as the device has asked for. `prepare` returns an open execution with its inputs; it is called for each run. Returns the execution
 * that succeeded, and its outputs in order. Rejects as `Execution.compute` does.
 */
export async function computeOutputs(
  prepare: () => Execution,
  { sizes, sizeOf, into = [], burst }: OutputMemory,
): Promise<{ readonly execution: Execution; readonly outputs: readonly ComputedOutput[] }> {
  let lengths = sizes;
  for (let isLast = false; ; isLast = true) {
    const execution = prepare();
    const buffers = lengths.map((length, output) => {
      const given = into[output];
      return given?.length === length ? given : new Uint8Array(length);
    });
    for (const [output, buffer] of buffers.entries()) execution.setOutput(output, buffer);
    try {
      await (burst === undefined ? execution.compute() : execution.burstCompute(burst));
    } catch (error) {
      const isTooSmall = error instanceof NeuralNetworksError && error.code === ResultCode.OUTPUT_INSUFFICIENT_SIZE;
      if (isLast || !isTooSmall) throw error;
      lengths = lengths.map((_, output) => sizeOf(output, extentsOf(execution, output)));
      continue;
    }
    const outputs = buffers.map((buffer, output): ComputedOutput => {
      const dimensions = extentsOf(execution, output);
      return { dimensions, bytes: buffer.subarray(0, sizeOf(output, dimensions)) };
    });
    return { execution, outputs };
  }
}

function extentsOf(execution: Execution, output: number): readonly number[] {
  return execution.getOutputOperandRank(output) === 0 ? [] : execution.getOutputOperandDimensions(output);
}
