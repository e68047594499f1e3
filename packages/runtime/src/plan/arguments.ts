/**
 * The places of a request's arguments for a planned model, and whether they can be used.
 */
import { mapMemory } from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Outcome, type Request, type RequestArgument } from "@nnhal/types";
import { bufferWith } from "./device-memory.ts";
import { onlyDevice } from "./device-role.ts";
import type { Place } from "./place.ts";
import type { Arguments } from "./place-arguments.ts";
import type { PreparedPlan } from "./prepared-plan.ts";

/** The places of a valid request's arguments, or why one cannot be used. */
export function argumentsOf(prepared: PreparedPlan, request: Request): Arguments | Outcome {
  const { inputIndexes, outputIndexes } = prepared.plan.model.main;
  const inputs = placesOf(request.inputs, inputIndexes, prepared, request);
  if ("status" in inputs) return inputs;
  const outputs = placesOf(request.outputs, outputIndexes, prepared, request);
  if ("status" in outputs) return outputs;
  // Different steps use these buffers, so no device can see that an output is also another argument.
  const bufferAt = (operand: number, place: Place | undefined) =>
    place?.pool.kind === "token"
      ? { device: onlyDevice(prepared.uses.get(operand)), token: place.pool.token }
      : undefined;
  const used = inputs.flatMap((place, index) => bufferAt(elementAt(inputIndexes, index), place) ?? []);
  for (const [index, place] of outputs.entries()) {
    const buffer = bufferAt(elementAt(outputIndexes, index), place);
    if (buffer === undefined) continue;
    if (used.some(({ device, token }) => device === buffer.device && token === buffer.token)) {
      const message = `output ${index} and another argument are one device buffer: an output needs its own`;
      return { status: ErrorStatus.INVALID_ARGUMENT, message };
    }
    used.push(buffer);
  }
  return { inputs, outputs };
}

function placesOf(
  list: readonly RequestArgument[],
  operandIndexes: readonly number[],
  { plan, uses }: PreparedPlan,
  { pools }: Request,
): (Place | undefined)[] | Outcome {
  const places: (Place | undefined)[] = [];
  for (const [index, { hasNoValue, location, dimensions: given }] of list.entries()) {
    const { poolIndex, offset, length } = location;
    const pool = pools[poolIndex];
    if (hasNoValue || pool === undefined) {
      places.push(undefined);
      continue;
    }
    const operand = elementAt(operandIndexes, index);
    const dimensions = given.length > 0 ? given : elementAt(plan.model.main.operands, operand).dimensions;
    if (pool.kind === "memory") {
      const bytes = mapMemory(pool.memory);
      if ("unmappable" in bytes) {
        return { status: ErrorStatus.GENERAL_FAILURE, message: `request: ${bytes.unmappable}` };
      }
      places.push({ pool, offset, length, dimensions });
      continue;
    }
    const device = onlyDevice(uses.get(operand));
    if (device === undefined) {
      const message = `request pool ${poolIndex} is the memory of one device, but not one device alone uses what lies in it`;
      return { status: ErrorStatus.GENERAL_FAILURE, message };
    }
    const buffer = bufferWith(device, pool.token);
    places.push({ pool, offset, length, dimensions, ...(buffer && { buffer }) });
  }
  return places;
}
