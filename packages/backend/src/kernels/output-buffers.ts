/**
 * The room for the graph's outputs. As soon as the shapes of all outputs are known, a run with too little room ends, before it computes
 * anything else.
 */
import { byteLength, elementAt, elementCount, formatShape, refineDimensions, type TensorInfo } from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import type { OutputBuffer, RunResult } from "../contract.ts";
import { StatusError } from "../status-error.ts";

/** The destinations of the graph's outputs, and the facts of their values as far as they are known. */
export interface OpenOutputs {
  readonly outputs: readonly OutputBuffer[];
  /** By output of the graph. */
  readonly infos: (TensorInfo | undefined)[];
  /** The output that an operand of the frame is. */
  readonly places: ReadonlyMap<number, number>;
}

/** Thrown to end a run early with a result. */
export class Outcome extends StatusError {
  readonly result: RunResult;

  constructor(result: RunResult) {
    super(result.status, result.message ?? "");
    this.result = result;
  }
}

/** Notes the shape of an operand, if it is an output of the graph. Throws an Outcome if an output does not fit. */
export function noteShape({ outputs, infos, places }: OpenOutputs, index: number, info: TensorInfo): void {
  const place = places.get(index);
  if (place === undefined) return;
  refineDimensions(index, elementAt(outputs, place).dimensions, info.dimensions);
  infos[place] = info;
  const result = shortage(infos, outputs);
  if (result !== undefined) throw new Outcome(result);
}

/** The result OUTPUT_INSUFFICIENT_SIZE, if all shapes are known and an output does not fit its destination. */
export function shortage(
  infos: readonly (TensorInfo | undefined)[],
  outputs: readonly OutputBuffer[],
): RunResult | undefined {
  let short = -1;
  for (let position = 0; position < infos.length; position++) {
    const info = infos[position];
    if (info === undefined) return undefined;
    if (short < 0 && !fits(info, elementAt(outputs, position))) short = position;
  }
  return short < 0 ? undefined : shortResult(short, infos, outputs);
}

/** Returns whether a value fits its destination. A buffer in the engine's memory is always large enough. */
function fits({ type, dimensions }: TensorInfo, { bytes, buffer }: OutputBuffer): boolean {
  return buffer !== undefined || byteLength(type, elementCount(dimensions)) <= bytes.length;
}

function shortResult(
  short: number,
  infos: readonly (TensorInfo | undefined)[],
  outputs: readonly OutputBuffer[],
): RunResult {
  let message = "";
  const outputShapes = infos.flatMap((info, position): OutputShape[] => {
    if (info === undefined) return [];
    const { type, dimensions } = info;
    const output = elementAt(outputs, position);
    if (position === short) {
      const needed = byteLength(type, elementCount(dimensions));
      message = `output ${position} of shape ${formatShape(dimensions)} needs ${needed} bytes, not ${output.bytes.length}`;
    }
    return [{ dimensions, isSufficient: fits(info, output) }];
  });
  return { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, message, outputShapes };
}
