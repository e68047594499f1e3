/**
 * The suite arithmetic: compares a device's results, operation by operation, with the reference kernels. A failed example is
 * made as small as possible.
 */
import { operations as allOperations, type Operation } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import { attempt } from "../attempt.ts";
import type { OnProgress, OnStart } from "../isolated.ts";
import { wideKinds } from "../products/wide.ts";
import type { RandomOperation } from "../random/draw.ts";
import { fills } from "../random/elements.ts";
import { kernelOperations } from "../random/examples.ts";
import { createRandom } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import type { Signature } from "../random/signature.ts";
import type { CaseResult } from "../result.ts";
import type { Example } from "../vectors/example.ts";
import { modelOf } from "../vectors/model.ts";
import { runVectors } from "../vectors/run.ts";
import {
  type ArithmeticExample,
  biasNamed,
  type ExampleKind,
  edgeNamed,
  fixedExamples,
  judgedExample,
  limitNamed,
  randomRound,
  typesOf,
  type Wants,
} from "./examples.ts";
import { shrink } from "./shrink.ts";

/** Options of runArithmetic. */
export interface ArithmeticOptions {
  /** Of the random examples. Default 1. */
  readonly seed?: number | undefined;
  /** The number of random examples of each operation in a round; some of them cannot be models. Default `defaultExampleCount`. */
  readonly count?: number | undefined;
  /**
   * An operation's name, or the name of an example, which is then the only one. Names of random examples tell their seed. Default: all.
   */
  readonly only?: string | undefined;
  /** Further rounds, each with the next seed, while it returns true. Default: none. */
  readonly goesOn?: (() => boolean) | undefined;
  /** Selects examples whose names contain this text, in any case. Others are not counted. Default: all. */
  readonly filter?: string | undefined;
  /** Milliseconds after which an example has failed. Default 20 000. */
  readonly timeLimit?: number | undefined;
  /** The number of examples to leave out at the beginning. Default 0. */
  readonly skip?: number | undefined;
  /**
   * Keeps a failed example, the smallest that was found, and returns what to say of it in its reason. Called for the first example
   * of each operation that fails, and ten operations at most. Default: examples are not made smaller.
   */
  readonly keep?: ((example: Example, original: string) => Promise<string> | string) | undefined;
  readonly onStart?: OnStart | undefined;
  /** Called with the number of operations that were begun, of `arithmeticSize`, and the name of the example. */
  readonly onProgress?: OnProgress | undefined;
}

/** Default number of random examples of each operation. */
export const defaultExampleCount = 20;

/** The number of operations that have examples. */
export const arithmeticSize = kernelOperations().length;

/** If the device supports none of so many first examples of an operation and types, the others are not drawn. */
const mostUnsupported = 8;

/** The most failed examples that are made smaller in one run: each takes up to a few seconds. */
const mostShrunk = 10;

/** Runs the examples on a device. */
export async function* runArithmetic(device: Device, options: ArithmeticOptions = {}): AsyncGenerator<CaseResult> {
  const { timeLimit = 20_000, keep, onStart, onProgress } = options;
  const filter = options.filter?.toLowerCase() ?? "";
  const shrunk = new Set<string>();
  let toSkip = options.skip ?? 0;
  const operations = new Set<unknown>();
  const unsupported = new Map<string, number>();
  const keyOf = (signature: Signature) => `${signature.operation.name} ${typesOf(signature)}`;
  const wants: Wants = (signature, kind) =>
    canMatch(signature.operation, kind, filter) && (unsupported.get(keyOf(signature)) ?? 0) < mostUnsupported;
  for (const made of chooseExamples(options, wants)) {
    const { name } = made.example;
    if (!name.toLowerCase().includes(filter)) continue;
    operations.add(made.drawn.signature.operation);
    onProgress?.(operations.size, name);
    const key = keyOf(made.drawn.signature);
    const count = (isSupported: boolean) =>
      // One that is supported ends the count for ever.
      unsupported.set(key, isSupported ? Number.NEGATIVE_INFINITY : (unsupported.get(key) ?? 0) + 1);
    if (toSkip-- > 0) {
      // The next examples depend on it.
      count(await isSupported(device, made.example));
      continue;
    }
    for await (const result of runVectors(device, [made.example], {
      again: true,
      timeLimit,
      ...(onStart && { onStart }),
    })) {
      const { subject } = result;
      count(result.verdict !== "unsupported");
      if (result.verdict !== "failed" || keep === undefined || shrunk.has(subject) || shrunk.size >= mostShrunk) {
        yield result;
        continue;
      }
      shrunk.add(subject);
      const kept = await keep(await smallestOf(device, made, timeLimit), name);
      yield { ...result, reason: `${result.reason ?? ""}\n${kept}` };
    }
  }
}

/** Words in the names of examples, in addition to their operation's name and their kind. */
const nameWords: Readonly<Record<ExampleKind, readonly string[]>> = {
  edge: fills,
  limits: ["all", "pairs", "both", ...wideKinds],
  bias: [],
  random: [],
};

/**
 * Returns true if the name of an example of an operation and kind can contain a text in lower case. If it does, each run of
 * letters in the text lies within one word of the name.
 */
function canMatch({ name }: Operation, kind: ExampleKind, text: string): boolean {
  const words = ["arithmetic", name.toLowerCase(), kind, ...nameWords[kind]];
  return (text.match(/[a-z]+/g) ?? []).every((letters) => words.some((word) => word.includes(letters)));
}

/** Returns true if a device supports the model of an example, as `runVectors` asks it. */
async function isSupported(device: Device, example: Example): Promise<boolean> {
  const { supported } = await device.getSupportedOperations(
    modelOf({ name: example.name, example, unspecifiedOutputs: false }),
  );
  return !supported.includes(false);
}

/** The examples that the options choose. Throws RangeError if `only` names neither an operation nor an example. */
function* chooseExamples(
  { seed = 1, count = defaultExampleCount, only, goesOn }: ArithmeticOptions,
  wants: Wants,
): Generator<ArithmeticExample> {
  const named = only === undefined ? undefined : readName(only);
  if (named?.example !== undefined) {
    yield* named.example;
    return;
  }
  const operations = named === undefined ? kernelOperations() : [named.operation];
  for (const operation of operations) {
    yield* fixedExamples(operation, wants);
    yield* randomRound(operation, seed, count, wants);
  }
  for (let next = seed + 1; goesOn?.(); next++) {
    for (const operation of operations) yield* randomRound(operation, next, count, wants);
  }
}

/** The operation, or the one example, that `only` names. */
function readName(only: string): { readonly operation: Operation; readonly example?: Iterable<ArithmeticExample> } {
  const match = /^(?:arithmetic\/)?(\w+)(?:\/(?:(edge|limits|bias)\/([\w.]+)|random\/(\d+)\.(\d+)))?$/.exec(only);
  const operation = operationNamed(match?.[1]);
  if (match === null || operation === undefined) {
    throw new RangeError(`"${only}" is neither an operation with examples nor the name of an example`);
  }
  const [, , kind, name, seed, index] = match;
  if (kind !== undefined && name !== undefined) {
    const example = findNamed(kind, operation, name);
    if (example === undefined) throw new RangeError(`there is no example "${only}"`);
    return { operation, example: [example] };
  }
  if (seed === undefined) return { operation };
  const round = [...randomRound(operation, Number(seed), Number(index) + 1)];
  return { operation, example: round.filter(({ example }) => example.name.endsWith(`/random/${seed}.${index}`)) };
}

function findNamed(kind: string, operation: Operation, name: string): ArithmeticExample | undefined {
  if (kind === "limits") return limitNamed(operation, name);
  return kind === "bias" ? biasNamed(operation, name) : edgeNamed(operation, name);
}

function operationNamed(name: string | undefined): Operation | undefined {
  const wanted = name?.toUpperCase();
  return allOperations.find((operation) => operation.name === wanted && !operation.controlFlow);
}

/** The smallest failing example that is found from a failed one. */
async function smallestOf(device: Device, { example, drawn }: ArithmeticExample, timeLimit: number): Promise<Example> {
  const asExample = (candidate: RandomOperation): Example | undefined => {
    const outcome = runRandomOperation(candidate, createRandom(1), false);
    const outputs = outcome.kind === "computed" ? outcome.outputs : undefined;
    // A refusal that is expected stays one, and a result a result.
    if ((outputs === undefined) !== example.expectFailure || outcome.kind === "faulty") return undefined;
    return judgedExample(candidate, `${example.name} shrunk`, outputs, 0);
  };
  let smallest = example;
  const stillFails = async (candidate: RandomOperation): Promise<boolean> => {
    const tried = asExample(candidate);
    if (tried === undefined) return false;
    for await (const { verdict } of runVectors(device, [tried], { again: true, timeLimit })) {
      if (verdict !== "failed") return false;
      smallest = tried;
      return true;
    }
    return false;
  };
  // A device that is slow or blocks must not stop the suite: the smallest example found so far is kept.
  await attempt(timeLimit / 2, () => shrink(drawn, stillFails));
  return smallest;
}
