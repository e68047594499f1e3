/**
 * The rules of AIDL that HAL 1.3 does not have (Android's canonical validation): of models and of requests. All others are those of
 * `@nnhal/validation`.
 */
import { combineDimensions, type FactsByCode, factsIn, specifiedByteSize, vocabularyOf } from "@nnhal/operations";
import type { Model, Outcome, Request, RequestArgument } from "@nnhal/types";
import { invalid } from "../../guard/refusal.ts";

/** Why a model that HAL 1.3 accepts is not valid in AIDL. */
export function refuseModelByAidl({ main, referenced }: Model): Outcome | undefined {
  for (const [index, { operands, operations }] of referenced.entries()) {
    if (operands.length > 0 && operations.length > 0) continue;
    return invalid(`referenced[${index}]: the subgraph has no ${operands.length > 0 ? "operations" : "operands"}`);
  }
  for (const [at, { operands }] of [main, ...referenced].entries()) {
    const index = operands.findIndex(({ location }) => (location.padding ?? 0) !== 0);
    if (index < 0) continue;
    const subgraph = at === 0 ? "main" : `referenced[${at - 1}]`;
    return invalid(
      `${subgraph}.operands[${index}].location.padding: expected 0, got ${operands[index]?.location.padding}`,
    );
  }
  return undefined;
}

/** Why a request that HAL 1.3 accepts is not valid in AIDL. `model`: undefined if it came from a cache. */
export function refuseRequestByAidl(request: Request, model: Model | undefined): Outcome | undefined {
  // Of the types of extensions the length is not checked.
  const factsOf = factsIn(vocabularyOf([], {}));
  for (const side of ["inputs", "outputs"] as const) {
    const indexes = model?.main[side === "inputs" ? "inputIndexes" : "outputIndexes"];
    for (const [position, argument] of request[side].entries()) {
      const operand = indexes && model?.main.operands[indexes[position] ?? -1];
      const problem = problemOf(argument, request, operand, factsOf);
      if (problem !== undefined) return invalid(`the request is not valid: ${side}[${position}]: ${problem}`);
    }
  }
  return undefined;
}

function problemOf(
  { hasNoValue, location, dimensions: given }: RequestArgument,
  { pools }: Request,
  operand: Model["main"]["operands"][number] | undefined,
  factsOf: FactsByCode,
): string | undefined {
  const { poolIndex, offset, length, padding = 0 } = location;
  if (hasNoValue) return padding === 0 ? undefined : `padding ${padding} of an omitted argument`;
  const pool = pools[poolIndex];
  if (pool === undefined) return `the poolIndex is ${poolIndex} where the request has ${pools.length} pools`;
  if (pool.kind === "token" || pool.memory.name === "hardware_buffer") {
    return padding === 0 ? undefined : `padding ${padding} in a pool without a size`;
  }
  const { size } = pool.memory;
  if (offset + length + padding > size) {
    return `${length} bytes at ${offset} with padding ${padding} reach beyond the ${size} bytes of pool ${poolIndex}`;
  }
  if (length === 0) return "the length is 0";
  const facts = operand && factsOf(operand.type);
  const dimensions = operand && combineDimensions(operand.dimensions, given);
  if (facts === undefined || dimensions === undefined) return undefined;
  const needed = specifiedByteSize(facts, dimensions);
  if (needed === undefined || needed === length) return undefined;
  return `the length: expected ${needed} for dimensions [${dimensions.join(", ")}], got ${length}`;
}
