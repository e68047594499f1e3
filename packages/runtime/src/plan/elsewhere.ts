/**
 * Execution on another device than the one whose buffers hold the values. Inputs are copied to plain memory before, and
 * results to the buffers afterwards (as Android does in fallback to the CPU).
 */
import { allocateMemory } from "@nnhal/driver-core/memory";
import { elementAt, type FactsByCode } from "@nnhal/operations";
import { ErrorStatus, type Operand, type Outcome, type Request, type Subgraph } from "@nnhal/types";
import { readPlace, writePlace } from "./bytes.ts";
import { operandSize } from "./lifetimes.ts";
import { type Place, poolOf, requestOf } from "./place.ts";
import type { Arguments } from "./place-arguments.ts";
import type { StepOutcome } from "./run-options.ts";

/** The subgraph to run, and the facts of its operand types. */
export interface Elsewhere {
  readonly main: Subgraph;
  readonly factsOf: FactsByCode;
}

/**
 * Returns whether the runtime can copy all arguments that lie in devices' buffers: it has the buffers and their sizes
 * are known.
 */
export function canRunElsewhere({ main, factsOf }: Elsewhere, { inputs, outputs }: Arguments): boolean {
  const isCopyable = (place: Place | undefined, operand: Operand) =>
    place === undefined ||
    place.pool.kind === "memory" ||
    (place.buffer !== undefined && sizeAt(place, operand, factsOf) > 0);
  return (
    inputs.every((place, index) => isCopyable(place, operandAt(main, main.inputIndexes, index))) &&
    outputs.every((place, index) => isCopyable(place, operandAt(main, main.outputIndexes, index)))
  );
}

/** Runs a request of the same arguments after copying those in devices' buffers to plain memory. */
export async function runElsewhere<Result extends StepOutcome>(
  { main, factsOf }: Elsewhere,
  { inputs, outputs }: Arguments,
  run: (request: Request) => Promise<Result>,
): Promise<Result | StepOutcome> {
  const plainInputs: (Place | undefined)[] = [];
  for (const [index, place] of inputs.entries()) {
    if (place?.pool.kind !== "token") {
      plainInputs.push(place);
      continue;
    }
    const plain = plainPlace(place, operandAt(main, main.inputIndexes, index), factsOf);
    const bytes = await readPlace(place, plain.length);
    if ("status" in bytes) return { ...bytes, outputShapes: [] };
    await writePlace(plain, bytes, []);
    plainInputs.push(plain);
  }
  const plainOutputs = outputs.map((place, index) =>
    place?.pool.kind === "token" ? plainPlace(place, operandAt(main, main.outputIndexes, index), factsOf) : place,
  );
  const result = await run(requestOf(plainInputs, plainOutputs));
  if (result.status !== ErrorStatus.NONE) return result;
  for (const [index, place] of outputs.entries()) {
    const plain = plainOutputs[index];
    if (place === undefined || plain === undefined || plain === place) continue;
    const shape = result.outputShapes[index];
    if (shape === undefined) {
      const message = `the execution succeeded without a shape of output ${index}, which lies in a device's buffer`;
      return { status: ErrorStatus.GENERAL_FAILURE, message, outputShapes: [] };
    }
    const copied = await copyPlace(plain, place, plain.length, shape.dimensions);
    if (copied.status !== ErrorStatus.NONE) return { ...copied, outputShapes: [] };
  }
  return result;
}

function operandAt({ operands }: Subgraph, indexes: readonly number[], position: number): Operand {
  return elementAt(operands, elementAt(indexes, position));
}

/** Copies a value of `size` bytes from one place to another. */
export async function copyPlace(from: Place, to: Place, size: number, dimensions: readonly number[]): Promise<Outcome> {
  const bytes = await readPlace(from, size);
  return "status" in bytes ? bytes : writePlace(to, bytes, dimensions);
}

function plainPlace(place: Place, operand: Operand, factsOf: FactsByCode): Place {
  const length = sizeAt(place, operand, factsOf);
  return { pool: poolOf(allocateMemory(Math.max(length, 1))), offset: 0, length, dimensions: place.dimensions };
}

function sizeAt({ dimensions }: Place, { type, dimensions: declared }: Operand, factsOf: FactsByCode): number {
  return operandSize({ type, dimensions: dimensions.length > 0 ? dimensions : declared }, factsOf);
}
