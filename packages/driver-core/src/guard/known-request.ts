/**
 * The last request of a prepared model that was valid. Executions follow one another with the same arguments: a request that
 * repeats the last one needs no check except of its memories, which can have changed.
 */
import { elementAt } from "@nnhal/operations";
import type { Request, RequestArgument, RequestMemoryPool } from "@nnhal/types";
import { validatePool } from "@nnhal/validation";

/** The facts of a pool that the checks of arguments read. */
type KnownPool = { readonly kind: "memory"; readonly name: string; readonly size: number } | { readonly kind: "token" };

/** A copy of the arguments of a valid request, and the facts of its pools. It keeps no memory alive. */
export interface KnownRequest {
  readonly inputs: readonly RequestArgument[];
  readonly outputs: readonly RequestArgument[];
  readonly pools: readonly KnownPool[];
  /** True once a request that repeats it was found to have enough bytes for its outputs: so have all others. */
  isSufficient: boolean;
}

/** Returns the facts of a copied, valid request to compare later ones with. */
export function knownRequest({ inputs, outputs, pools }: Request): KnownRequest {
  return {
    inputs,
    outputs,
    pools: pools.map((pool) => {
      if (pool.kind === "token") return { kind: "token" };
      const { name, size } = pool.memory;
      return { kind: "memory", name, size };
    }),
    isSufficient: false,
  };
}

/**
 * A copy of a request that repeats a known one: its arguments are equal, and its pools are valid and have the same facts. Undefined if it
 * does not, or cannot be read. The request can be any value.
 */
export function repeatedRequest(request: Request, known: KnownRequest): Request | undefined {
  try {
    const { inputs, outputs, pools } = request;
    if (!areEqualArguments(inputs, known.inputs) || !areEqualArguments(outputs, known.outputs)) return undefined;
    const taken = takePools(pools, known.pools);
    return taken === undefined ? undefined : { inputs: known.inputs, outputs: known.outputs, pools: taken };
  } catch {
    // The checks name the fault.
    return undefined;
  }
}

/** Returns true if a list of arguments, which can be any value, equals a known one. Throws if it cannot be read. */
export function areEqualArguments(list: readonly RequestArgument[], known: readonly RequestArgument[]): boolean {
  if (!Array.isArray(list) || list.length !== known.length) return false;
  for (let index = 0; index < known.length; index++) {
    const argument = elementAt(known, index);
    const given: RequestArgument = list[index];
    if (given.hasNoValue !== argument.hasNoValue) return false;
    const { poolIndex, offset, length, padding } = given.location;
    const { location } = argument;
    if (poolIndex !== location.poolIndex || offset !== location.offset || length !== location.length) return false;
    if (padding !== location.padding) return false;
    if (!areSame(given.dimensions, argument.dimensions)) return false;
  }
  return true;
}

function areSame(dimensions: readonly number[], known: readonly number[]): boolean {
  if (!Array.isArray(dimensions) || dimensions.length !== known.length) return false;
  for (let axis = 0; axis < known.length; axis++) if (dimensions[axis] !== known[axis]) return false;
  return true;
}

function takePools(pools: readonly RequestMemoryPool[], known: readonly KnownPool[]): RequestMemoryPool[] | undefined {
  if (!Array.isArray(pools) || pools.length !== known.length) return undefined;
  const taken: RequestMemoryPool[] = new Array(known.length);
  for (let index = 0; index < known.length; index++) {
    const facts = elementAt(known, index);
    const given: RequestMemoryPool = pools[index];
    const { kind } = given;
    if (kind === "memory" && facts.kind === "memory") {
      const { memory } = given;
      if (memory.size !== facts.size || memory.name !== facts.name || !validatePool(memory)) return undefined;
      taken[index] = { kind, memory };
    } else if (kind === "token" && facts.kind === "token") {
      const pool: RequestMemoryPool = { kind, token: given.token };
      if (!validatePool(pool)) return undefined;
      taken[index] = pool;
    } else return undefined;
  }
  return taken;
}
