/**
 * Trials of operators: models of a few operators with inputs that are chosen to break them, and the results that must come out.
 */
import type * as ort from "onnxruntime-node";
import { type Ort, sessionOptions } from "../engine.ts";
import type { Failures, FormName } from "../forms.ts";
import { type Builder, createBuilder, type Value } from "../graph/builder.ts";
import { writeModel } from "../onnx/write.ts";

/** An input of a model with its elements. */
export type Feed = readonly [Value, Uint8Array | Int8Array | Float32Array];

/** The result of an operator that was added to a model, and what it must be. */
export interface Trial {
  readonly form: FormName;
  /** The kind of computation, for messages. */
  readonly subject: string;
  readonly result: Value;
  readonly feeds: readonly Feed[];
  readonly expected: readonly number[];
  /**
   * Returns the greatest allowed difference of an element from its expected value. NaN and infinities must be the same.
   */
  findAllowed(place: number): number;
}

/** Adds an operator to a model. */
export type AddTrial = (builder: Builder) => Trial;

/**
 * Computes trials in one model, or each in its own if the engine refuses or fails to compute them together. Returns the first failure of each
 * form.
 */
export async function runTrials(engine: Ort, adds: readonly AddTrial[]): Promise<Failures> {
  if (adds.length === 0) return {};
  try {
    return failuresOf(await compute(engine, adds));
  } catch (error) {
    if (adds.length > 1) {
      const each: Failures[] = [];
      for (const add of adds) each.push(await runTrials(engine, [add]));
      return Object.assign({}, ...each.toReversed());
    }
    const { form, subject } = firstOf(adds)(createBuilder());
    return { [form]: `${subject}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function firstOf([first]: readonly AddTrial[]): AddTrial {
  if (first === undefined) throw new Error("there are no trials");
  return first;
}

type Computed = readonly (readonly [Trial, ArrayLike<number>])[];

async function compute({ InferenceSession, Tensor }: Ort, adds: readonly AddTrial[]): Promise<Computed> {
  const builder = createBuilder();
  const trials = adds.map((add) => add(builder));
  const names = trials.map(({ result }) => builder.output(result));
  const feeds: Record<string, ort.Tensor> = {};
  for (const [{ name, dims }, elements] of trials.flatMap((trial) => trial.feeds)) {
    feeds[name] =
      elements instanceof Float32Array
        ? new Tensor("float32", elements, dims)
        : elements instanceof Int8Array
          ? new Tensor("int8", elements, dims)
          : new Tensor("uint8", elements, dims);
  }
  const session = await InferenceSession.create(writeModel(builder.graph()), sessionOptions(1));
  try {
    const results = await session.run(feeds);
    return trials.map((trial, place) => [trial, numbersOf(results[names[place] ?? ""]?.data)]);
  } finally {
    await session.release();
  }
}

function numbersOf(data: ort.Tensor["data"] | undefined): ArrayLike<number> {
  if (data instanceof Uint8Array || data instanceof Float32Array) return data;
  throw new Error("the result is neither bytes nor floats");
}

/** The first failure of each form. */
function failuresOf(computed: Computed): Failures {
  const failures: { [form in FormName]?: string } = {};
  for (const [{ form, subject, expected, findAllowed: allowed }, actual] of computed) {
    const place = expected.findIndex((each, at) => !isNear(each, actual[at], allowed(at)));
    if (place < 0 || failures[form] !== undefined) continue;
    failures[form] = `${subject}: expected ${expected[place]}, got ${actual[place]}`;
  }
  return failures;
}

function isNear(expected: number, actual: number | undefined, allowed: number): boolean {
  return actual !== undefined && (Object.is(expected, actual) || Math.abs(expected - actual) <= allowed);
}
