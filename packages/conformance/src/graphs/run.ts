/**
 * The suite graphs: random models of many operations, each in one of the ways to execute, in turn, held against the reference kernels. A
 * graph that fails is made as small as it can be, and its reason names the operation at fault.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { attempt } from "../attempt.ts";
import { blameOperation } from "../blame.ts";
import type { OnProgress, OnStart } from "../isolated.ts";
import { createRandom } from "../random/random.ts";
import type { CaseResult } from "../result.ts";
import type { Example } from "../vectors/example.ts";
import { modelOf } from "../vectors/model.ts";
import { type ExecutionPath, executionPaths } from "../vectors/path.ts";
import { runVectors } from "../vectors/run.ts";
import { casesOf } from "../vectors/variant.ts";
import { type Expectation, expectationOf } from "./expected.ts";
import { drawGraph } from "./generate.ts";
import { dividedDevice, helpedDevice, type Shared } from "./parts.ts";
import { shrinkGraph } from "./shrink.ts";

/**
 * The ways in which a graph runs: the execution paths of the device, and divided among parts of it. `helped`: operations that
 * the device does not support go to the reference; graphs with such operations have no other way.
 */
export const graphWays = [...executionPaths, "divided", "helped"] as const;
export type GraphWay = (typeof graphWays)[number];

/** Options of runGraphs. */
export interface GraphsOptions {
  /** Default 1. */
  readonly seed?: number | undefined;
  /** The number of graphs. Default 200. */
  readonly count?: number | undefined;
  /** The name of the only graph, such as `graphs/1.17`. It runs in the way that it has among the others. Default: all. */
  readonly only?: string | undefined;
  /** Further graphs, while it returns true. Default: none. */
  readonly goesOn?: (() => boolean) | undefined;
  /** If true, each graph runs in every way, and not in one of them in turn. Default: false. */
  readonly everyWay?: boolean | undefined;
  /**
   * If true, results must equal the reference's exactly, and not only as precisely as the HAL demands: for the reference
   * itself. Default: false.
   */
  readonly exact?: boolean | undefined;
  /** Selects graphs whose names contain this text, in any case. Others are not counted. Default: all. */
  readonly filter?: string | undefined;
  /** Milliseconds after which a graph has failed. Default 20 000. */
  readonly timeLimit?: number | undefined;
  /** The number of results to leave out at the beginning. Default 0. */
  readonly skip?: number | undefined;
  /**
   * Keeps a graph that failed, the smallest that was found, and returns what to say of it in its reason. `path`: the execution path that
   * it fails in; undefined: only the graph's own way shows it. Called for five graphs at most. Default: graphs are not made smaller.
   */
  readonly keep?:
    | ((example: Example, original: string, path: ExecutionPath | undefined) => Promise<string> | string)
    | undefined;
  readonly onStart?: OnStart | undefined;
  /** Called with the number of graphs that were begun, and the name of the graph. */
  readonly onProgress?: OnProgress | undefined;
}

/** The number of graphs, unless another one is asked for. */
export const defaultGraphCount = 200;

/** The most graphs that are made smaller in one run. */
const mostShrunk = 5;

/** A graph in one way. */
interface GraphRun {
  readonly device: Device;
  readonly reference: Device;
  readonly way: GraphWay;
  /** Seed of the random choices of the way. */
  readonly seed: number;
  /** True if the model states no extents of its outputs. */
  readonly unspecified: boolean;
  readonly timeLimit: number;
}

/** Runs random graphs on a device. Rejects with a RangeError if `only` is not the name of a graph. */
export async function* runGraphs(device: Device, options: GraphsOptions = {}): AsyncGenerator<CaseResult> {
  const { timeLimit = 20_000, exact = false, keep, onStart, onProgress } = options;
  const opened = await openDevice({ backend: referenceBackend });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  // The device may have the reference's own name, and each of several needs another.
  const reference = { ...opened, name: "kit-reference" };
  const filter = options.filter?.toLowerCase() ?? "";
  let toSkip = options.skip ?? 0;
  let [begun, shrunk] = [0, 0];
  for (const { seed, index } of chooseGraphs(options)) {
    const name = `graphs/${seed}.${index}`;
    if (!name.includes(filter)) continue;
    onProgress?.(++begun, name);
    for (const ways of waysOf(index, options.everyWay)) {
      if (toSkip-- > 0) continue;
      await onStart?.({ name, subject: elementAt(ways, 0) });
      const { example, elements } = graphOf(seed, index, exact);
      const run = { device, reference, seed: index, unspecified: index % 3 === 1, timeLimit };
      const { way, verdict, reason, isLost } = await firstThatRuns(example, ways, run);
      const result: CaseResult = {
        name: options.everyWay ? `${name} ${way}` : name,
        subject: way,
        verdict,
        elements,
        ...(reason !== undefined && { reason }),
        ...(isLost && { isLost }),
      };
      if (verdict !== "failed" || shrunk++ >= mostShrunk) yield result;
      else {
        const smallest = keep === undefined ? example : await smallestOf(example, exact, { ...run, way });
        const blamed = isLost ? undefined : await blameGraph(smallest, { ...run, way });
        const kept = await keep?.(smallest, name, pathOf(way));
        yield { ...result, reason: [reason ?? "", blamed, kept].filter((text) => text !== undefined).join("\n") };
      }
    }
  }
}

/** Returns a graph with its expected results. Graphs without an expectation are drawn again. */
export function graphOf(seed: number, index: number, exact = false): Expectation {
  for (let turn = 0; ; turn++) {
    const expectation = expectationOf(drawGraph(seed, index, turn), exact);
    if (expectation !== undefined) return expectation;
  }
}

function* chooseGraphs({ seed = 1, count = defaultGraphCount, only, goesOn }: GraphsOptions) {
  if (only !== undefined) {
    const [, ofSeed, ofIndex] = /^graphs\/(\d+)\.(\d+)$/.exec(only) ?? [];
    if (ofSeed === undefined) throw new RangeError(`"${only}" is not the name of a graph, such as graphs/1.17`);
    yield { seed: Number(ofSeed), index: Number(ofIndex) };
    return;
  }
  for (let index = 0; index < count || goesOn?.(); index++) yield { seed, index };
}

/** Returns, for each result of the graph, a list of ways; the first available one is taken. */
function waysOf(index: number, everyWay = false): readonly (readonly GraphWay[])[] {
  const own = graphWays.filter((way) => way !== "helped");
  if (everyWay) return own.map((way) => [way, "helped"]);
  const first = elementAt(own, index % own.length);
  // A path that cannot execute the graph may be the only one that cannot; an operation that is not supported is so in all.
  const others = first === "divided" ? [] : executionPaths.filter((path) => path !== first);
  return [[first, ...others, "helped"]];
}

function pathOf(way: GraphWay): ExecutionPath | undefined {
  return executionPaths.find((path) => path === way);
}

type Outcome = Pick<CaseResult, "verdict" | "reason" | "isLost">;

async function firstThatRuns(
  example: Example,
  ways: readonly GraphWay[],
  run: Omit<GraphRun, "way">,
): Promise<Outcome & { readonly way: GraphWay }> {
  let last: Outcome = { verdict: "unsupported", reason: "there is no way to execute it" };
  let way: GraphWay = "helped";
  for (way of ways) {
    last = await runIn(example, { ...run, way });
    if (last.verdict !== "unsupported") break;
  }
  return { ...last, way };
}

/** Runs a graph in one way: executes it, then with other inputs, then again. */
async function runIn(
  example: Example,
  { device, reference, way, seed, unspecified, timeLimit }: GraphRun,
): Promise<Outcome> {
  const shared =
    way === "divided"
      ? dividedDevice(device, reference, createRandom(seed))
      : way === "helped"
        ? helpedDevice(device, reference)
        : undefined;
  const forms = casesOf(example, unspecified && way !== "fenced");
  const form = forms.find(({ unspecifiedOutputs }) => unspecifiedOutputs) ?? forms[0];
  const options = {
    path: pathOf(way),
    again: true,
    timeLimit,
    variants: true,
    filter: ({ name }: { readonly name: string }) => name === form?.name,
  };
  for await (const { verdict, reason, isLost } of runVectors(shared?.device ?? device, [example], options)) {
    if (verdict === "passed" && shared !== undefined) return outcomeOfShared(shared);
    return { verdict, ...(reason !== undefined && { reason }), ...(isLost && { isLost }) };
  }
  return { verdict: "failed", reason: "the graph has no case" };
}

/** Right results say nothing of a device that left the work to the reference. */
function outcomeOfShared({ countPrepared: prepared, failure }: Shared): Outcome {
  const failed = failure();
  if (failed !== undefined) return { verdict: "failed", reason: `${failed}; the reference stood in for it` };
  if (prepared() > 0) return { verdict: "passed" };
  return { verdict: "unsupported", reason: "no operation of the graph goes to the device" };
}

/** Names the operation of a graph that the device computes wrong; undefined: it is not known. */
async function blameGraph(
  example: Example,
  { device, reference, way, timeLimit }: GraphRun,
): Promise<string | undefined> {
  const { operands, inputIndexes } = example.main;
  const inputs = inputIndexes.flatMap((index) => {
    const { data, dimensions } = elementAt(operands, index);
    return data === null ? [] : { bytes: data, dimensions };
  });
  // An omitted input has no value that operations one by one could get.
  if (inputs.length < inputIndexes.length) return undefined;
  const model = modelOf({ name: "", example, unspecifiedOutputs: false });
  return blameOperation(model, { device, reference, inputs, path: pathOf(way), timeLimit });
}

/** The smallest graph that is found to fail as well. */
async function smallestOf(example: Example, exact: boolean, run: GraphRun): Promise<Example> {
  let smallest = example;
  const stillFails = async (candidate: Example): Promise<boolean> => {
    const isValid = modelIssues(modelOf({ name: "", example: candidate, unspecifiedOutputs: false })).length === 0;
    const expectation = isValid ? expectationOf(candidate, exact) : undefined;
    if (expectation === undefined) return false;
    const { verdict } = await runIn(expectation.example, run);
    if (verdict !== "failed") return false;
    smallest = expectation.example;
    return true;
  };
  // A device that is slow or blocks must not stop the suite: the smallest graph found so far is kept.
  await attempt(run.timeLimit / 2, () => shrinkGraph(example, stillFails));
  return smallest;
}
