/**
 * Mutations of requests: each breaks one rule of a valid request for a prepared model.
 */
import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  type Model,
  type Operand,
  operandTypeNames,
  operandTypes,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import { someMemory, wrongMemories } from "./pools.ts";
import { nowhere, without } from "./site.ts";

/** A request that breaks one rule. */
export interface RequestMutant {
  /** The change and its place: `input 0 is missing`. Unique among the mutants of one mutation and request. */
  readonly name: string;
  readonly request: Request;
  /** The status that a driver must return. */
  readonly expected: ErrorStatus;
  /** Wrong fences to wait for, if the request itself is right. */
  readonly waitFor?: readonly null[];
}

/** A class of wrong requests. */
export interface RequestMutation {
  readonly name: string;
  /** The rule that the mutants break. */
  readonly says: string;
  /** The mutants of a request that is valid for the model. Does not change the request. */
  mutate(request: Request, model: Model): Iterable<RequestMutant>;
}

type Side = "inputs" | "outputs";

function invalid(name: string, request: Request): RequestMutant {
  return { name, request, expected: ErrorStatus.INVALID_ARGUMENT };
}

/** An argument in its request, and the operand that it is for. */
interface ArgumentSite {
  readonly side: Side;
  readonly argument: RequestArgument;
  readonly operand: Operand;
  readonly label: string;
  /** The request with some fields of the argument changed. */
  with(changes: Partial<RequestArgument>): Request;
}

function* argumentSites(request: Request, { main }: Model): Generator<ArgumentSite> {
  for (const side of ["inputs", "outputs"] as const) {
    const indexes = side === "inputs" ? main.inputIndexes : main.outputIndexes;
    for (const [position, argument] of request[side].entries()) {
      yield {
        side,
        argument,
        operand: elementAt(main.operands, elementAt(indexes, position)),
        label: `${side.slice(0, -1)} ${position}`,
        with: (changes) => ({ ...request, [side]: request[side].with(position, { ...argument, ...changes }) }),
      };
    }
  }
}

export const removeRequestInput: RequestMutation = {
  name: "removeRequestInput",
  says: "A request has one input too few.",
  mutate: (request) => withoutEach(request, "inputs"),
};

export const removeRequestOutput: RequestMutation = {
  name: "removeRequestOutput",
  says: "A request has one output too few.",
  mutate: (request) => withoutEach(request, "outputs"),
};

function* withoutEach(request: Request, side: Side): Generator<RequestMutant> {
  for (const position of request[side].keys()) {
    const name = `${side.slice(0, -1)} ${position} is missing`;
    yield invalid(name, { ...request, [side]: without(request[side], position) });
  }
}

export const addRequestArgument: RequestMutation = {
  name: "addRequestArgument",
  says: "A request has one input or output too many.",
  *mutate(request) {
    const omitted: RequestArgument = { hasNoValue: true, location: nowhere, dimensions: [] };
    for (const side of ["inputs", "outputs"] as const) {
      yield invalid(`there is one more of the ${side}`, { ...request, [side]: [...request[side], omitted] });
    }
  },
};

const GREATEST_UINT32 = 0xffff_ffff;

export const requestLocation: RequestMutation = {
  name: "requestLocation",
  says: "An argument lies outside of its pool, or is omitted although it has a place.",
  *mutate(request, model) {
    for (const { argument, label, with: change } of argumentSites(request, model)) {
      const omitted = { hasNoValue: true, location: nowhere, dimensions: [] };
      for (const [field, value] of [
        ["poolIndex", 1],
        ["offset", 1],
        ["length", 1],
      ] as const) {
        const location = { ...nowhere, [field]: value };
        yield invalid(`${label} is omitted, with location.${field} ${value}`, change({ ...omitted, location }));
      }
      yield invalid(`${label} is omitted, with dimensions [1]`, change({ ...omitted, dimensions: [1] }));
      if (argument.hasNoValue) continue;
      const { location } = argument;
      const pool = elementAt(request.pools, location.poolIndex);
      const size = pool.kind === "memory" ? pool.memory.size : 0;
      for (const [field, value] of [
        ["poolIndex", request.pools.length],
        ["poolIndex", GREATEST_UINT32],
        ["offset", size - location.length + 1],
        ["offset", GREATEST_UINT32],
        ["length", size - location.offset + 1],
        ["length", GREATEST_UINT32],
      ] as const) {
        yield invalid(`${label} has location.${field} ${value}`, change({ location: { ...location, [field]: value } }));
      }
    }
  },
};

export const requestDimensions: RequestMutation = {
  name: "requestDimensions",
  says: "An argument's dimensions contradict the model's, or do not say what the model leaves open.",
  *mutate(request, model) {
    for (const { side, argument, operand, label, with: change } of argumentSites(request, model)) {
      if (argument.hasNoValue) continue;
      for (const dimensions of wrongDimensions(side, operand)) {
        yield invalid(`${label} has dimensions [${dimensions.join(", ")}]`, change({ dimensions }));
      }
    }
  },
};

function wrongDimensions(side: Side, { type, dimensions: known }: Operand): (readonly number[])[] {
  const name = operandTypeNames.get(type);
  if (name === undefined) return [];
  if (operandTypes[name].kind !== "tensor") return [[1]];
  // Nothing contradicts an unknown rank, and an unknown input is open still.
  if (known.length === 0) return side === "inputs" ? [[], [0]] : [];
  const some = known.map((extent) => extent || 1);
  const wrong: (readonly number[])[] = [[...some, 1]];
  if (some.length > 1) wrong.push(some.slice(1));
  for (const [axis, extent] of known.entries()) {
    if (extent !== 0) wrong.push(some.with(axis, extent + 1), some.with(axis, 0));
    else if (side === "inputs") wrong.push(some.with(axis, 0));
  }
  return wrong;
}

export const requestPool: RequestMutation = {
  name: "requestPool",
  says: "A request's pool is of a kind that the HAL does not know, has less memory than it says, or has the token 0.",
  *mutate(request) {
    const added = request.pools.length;
    const withPool = (index: number, pool: RequestMemoryPool): Request => {
      const pools = [...request.pools];
      pools[index] = pool;
      return { ...request, pools };
    };
    const more: RequestMemoryPool = { kind: "memory", memory: someMemory() };
    for (const [index, pool] of [...request.pools, more].entries()) {
      if (pool.kind !== "memory") continue;
      for (const { how, memory } of wrongMemories(pool.memory)) {
        const name = index === added ? `one more pool ${how}` : `pool ${index} ${how}`;
        yield invalid(name, withPool(index, { kind: "memory", memory }));
      }
    }
    yield invalid("one more pool has the token 0", withPool(added, { kind: "token", token: 0 }));
  },
};

export const unknownToken: RequestMutation = {
  name: "unknownToken",
  says: "A request's pool is a token of no buffer of the device.",
  *mutate(request) {
    // That no buffer has the greatest token is as good as certain.
    const pools: Request["pools"] = [...request.pools, { kind: "token", token: GREATEST_UINT32 }];
    yield invalid(`one more pool has the token ${GREATEST_UINT32}`, { ...request, pools });
  },
};

export const nullFence: RequestMutation = {
  name: "nullFence",
  says: "A fenced execution is to wait for a fence that is none.",
  *mutate(request) {
    yield { ...invalid("a fence to wait for is null", request), waitFor: [null] };
  },
};

/** All mutations of requests: those of Android's VTS, then those of rules that VTS does not touch. */
export const requestMutations: readonly RequestMutation[] = [
  removeRequestInput,
  removeRequestOutput,
  addRequestArgument,
  requestLocation,
  requestDimensions,
  requestPool,
  unknownToken,
  nullFence,
];
