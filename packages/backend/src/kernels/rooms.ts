/**
 * The room of the graph's outputs. As soon as the shapes of all of them are known, a run that has too little room ends, before
 * anything is computed for it.
 */
import { byteLength, elementAt, elementCount, formatShape, refineDimensions, type TensorInfo } from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import type { OutputBuffer, RunResult } from "../contract.ts";
import { StatusError } from "../status-error.ts";

/** The places of the graph's outputs, and what is known of the values that they are for. */
export interface Rooms {
  readonly outputs: readonly OutputBuffer[];
  /** By output of the graph. */
  readonly infos: (TensorInfo | undefined)[];
  /** The output that an operand of the frame is. */
  readonly places: ReadonlyMap<number, number>;
}

/** Ends a run whose outcome is known before its end. */
export class Outcome extends StatusError {
  readonly result: RunResult;

  constructor(result: RunResult) {
    super(result.status, result.message ?? "");
    this.result = result;
  }
}

/** Notes the shape of an operand, if it is an output of the graph. Throws an Outcome if this shows that the run is in vain. */
export function noteShape({ outputs, infos, places }: Rooms, index: number, info: TensorInfo): void {
  const place = places.get(index);
  if (place === undefined) return;
  refineDimensions(index, elementAt(outputs, place).dimensions, info.dimensions);
  infos[place] = info;
  const result = shortage(infos, outputs);
  if (result !== undefined) throw new Outcome(result);
}

/** The outcome OUTPUT_INSUFFICIENT_SIZE, if all shapes are known and an output does not fit its place. */
export function shortage(
  infos: readonly (TensorInfo | undefined)[],
  outputs: readonly OutputBuffer[],
): RunResult | undefined {
  let message: string | undefined;
  const outputShapes: OutputShape[] = [];
  for (const [position, info] of infos.entries()) {
    if (info === undefined) return undefined;
    const { type, dimensions } = info;
    const { bytes, buffer } = elementAt(outputs, position);
    const needed = byteLength(type, elementCount(dimensions));
    // A place in the engine's memory is always large enough.
    const isSufficient = buffer !== undefined || needed <= bytes.length;
    if (!isSufficient) {
      message ??= `output ${position} of shape ${formatShape(dimensions)} needs ${needed} bytes, not ${bytes.length}`;
    }
    outputShapes.push({ dimensions, isSufficient });
  }
  return message === undefined ? undefined : { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, message, outputShapes };
}
