/**
 * The vectors suite: every example is prepared and executed on a device, and its outputs are compared.
 */
import { type Device, ErrorStatus, errorStatusNames, type Model, operandTypes, type PreparedModel } from "@nnhal/types";
import { attempt } from "../attempt.ts";
import type { OnStart } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import { reasonAgainst } from "../support.ts";
import { compareOutputs } from "./compare.ts";
import type { Example } from "./example.ts";
import { modelOf } from "./model.ts";
import { type ExecutionPath, executeBy } from "./path.ts";
import { createPreparer, type Preparer } from "./prepare.ts";
import { requestOf } from "./request.ts";
import { resultTypeOf, subjectOf } from "./subject.ts";
import { casesOf, type VectorCase } from "./variant.ts";

/** Options of runVectors. */
export interface VectorsOptions {
  /** If true, the derived forms of each example run too. Default: only the written one. */
  readonly variants?: boolean | undefined;
  /** The way to execute the examples. Default: sync. */
  readonly path?: ExecutionPath | undefined;
  /**
   * If true, a prepared model is executed again after an execution with other inputs, and must have the same results. Default:
   * false.
   */
  readonly again?: boolean | undefined;
  /** Selects the cases to run, for instance with `matchesText`. Others are not counted. Default: all. */
  readonly filter?: ((vectorCase: VectorCase) => boolean) | undefined;
  /** Milliseconds after which a case has failed. Default 60 000. */
  readonly timeLimit?: number | undefined;
  /** The number of cases to leave out at the beginning. Default 0. */
  readonly skip?: number | undefined;
  readonly onStart?: OnStart | undefined;
}

/** Returns true if the name of a case contains a text, or its operation has that name. Upper and lower case are the same. */
export function matchesText({ name, example }: VectorCase, text: string): boolean {
  const wanted = text.toLowerCase();
  return (
    name.toLowerCase().includes(wanted) ||
    example.spec.toLowerCase().includes(wanted) ||
    subjectOf(example).toLowerCase() === wanted
  );
}

/** Runs examples on a device, one after the other. */
export async function* runVectors(
  device: Device,
  examples: Iterable<Example> | AsyncIterable<Example>,
  options: VectorsOptions = {},
): AsyncGenerator<CaseResult> {
  const { variants = false, path = "sync", filter = () => true, timeLimit = 60_000, skip = 0, onStart } = options;
  let toSkip = skip;
  const preparer = createPreparer(path, device);
  try {
    for await (const example of examples) {
      for (const vectorCase of casesOf(example, variants)) {
        if (!filter(vectorCase) || toSkip-- > 0) continue;
        const start = { name: vectorCase.name, subject: subjectOf(example) };
        await onStart?.(start);
        const outcome = await attempt(timeLimit, () => runCase(device, vectorCase, path, preparer, options.again));
        const { verdict, reason, error, deviations } =
          "value" in outcome ? outcome.value : failOutcome(outcome.problem);
        const isLost = "isLate" in outcome;
        const type = resultTypeOf(example);
        yield {
          ...start,
          verdict,
          ...(reason !== undefined && { reason }),
          ...(type !== undefined && { type }),
          ...(error !== undefined && { error }),
          ...(deviations !== undefined && deviations.length > 0 && { deviations }),
          ...(isLost && { isLost }),
        };
      }
    }
  } finally {
    preparer.close();
  }
}

type Outcome = Pick<CaseResult, "verdict" | "reason" | "error" | "deviations">;

const passed: Outcome = { verdict: "passed" };

function failOutcome(reason: string): Outcome {
  return { verdict: "failed", reason };
}

/** The way in which an example must fail. */
interface ParticularFailure {
  readonly loopTimeoutDuration: bigint;
  readonly statuses: readonly ErrorStatus[];
}

/** Examples that have to fail in a particular way, by their spec. */
const particularFailures: ReadonlyMap<string, ParticularFailure> = new Map([
  [
    "V1_3/while_infinite_loop",
    {
      loopTimeoutDuration: 1_000_000n,
      statuses: [ErrorStatus.MISSED_DEADLINE_TRANSIENT, ErrorStatus.MISSED_DEADLINE_PERSISTENT],
    },
  ],
]);

async function runCase(
  device: Device,
  vectorCase: VectorCase,
  path: ExecutionPath,
  preparer: Preparer,
  again = false,
): Promise<Outcome> {
  const { example } = vectorCase;
  const model = modelOf(vectorCase);
  const support = await device.getSupportedOperations(model);
  if (support.status !== ErrorStatus.NONE && !example.expectFailure) {
    return failOutcome(`getSupportedOperations: ${describe(support)}`);
  }
  const { length } = example.main.operations;
  if (support.status === ErrorStatus.NONE && support.supported.length !== length) {
    return failOutcome(`getSupportedOperations: ${support.supported.length} answers about ${length} operations`);
  }
  const unsupported = reasonAgainst(model, support);
  if (unsupported !== undefined) return { verdict: "unsupported", reason: unsupported };

  const result = await preparer.prepare(model);
  if ("unsupported" in result) return { verdict: "unsupported", reason: result.unsupported };
  const { preparedModel, ...prepared } = result;
  if ((preparedModel === null) === (prepared.status === ErrorStatus.NONE)) {
    return failOutcome(
      `prepareModel: ${describe(prepared)} with ${preparedModel === null ? "no" : "a"} prepared model`,
    );
  }
  if (preparedModel === null) {
    const mayFail = example.expectFailure && !particularFailures.has(example.spec);
    return mayFail ? passed : failOutcome(`prepareModel: ${describe(prepared)}`);
  }
  try {
    const run = (inputsOf: Example) => execute(device, preparedModel, model, inputsOf, path);
    const first = await run(example);
    if (!again || first.verdict !== "passed" || example.expectFailure) return first;
    // The outcome does not count: leftovers of it must not show in the next one.
    await run(withOtherInputs(example));
    const second = await run(example);
    const error = first.error === undefined ? second.error : Math.max(first.error, second.error ?? 0);
    const worst = error === undefined ? {} : { error };
    const { deviations } = first;
    const both = { ...worst, ...(deviations !== undefined && { deviations }) };
    if (second.verdict === "passed") return { ...second, ...both };
    return { ...failOutcome(`after an execution with other inputs, ${second.reason}`), ...both };
  } finally {
    preparedModel.close();
  }
}

/** The inputs of an example, each with its elements in the reverse order. */
function withOtherInputs(example: Example): Example {
  const inputs = new Set(example.main.inputIndexes);
  const operands = example.main.operands.map((operand, index) => {
    if (!inputs.has(index) || operand.data === null) return operand;
    const { elementSize } = operandTypes[operand.type];
    const bytes = operand.data.slice().reverse();
    for (let start = 0; start < bytes.length; start += elementSize)
      bytes.subarray(start, start + elementSize).reverse();
    return { ...operand, data: bytes };
  });
  return { ...example, main: { ...example.main, operands } };
}

async function execute(
  device: Device,
  preparedModel: PreparedModel,
  model: Model,
  example: Example,
  path: ExecutionPath,
): Promise<Outcome> {
  const { request, outputBytes, findDamage } = requestOf(example);
  const { loopTimeoutDuration, statuses } = particularFailures.get(example.spec) ?? {};
  const options = loopTimeoutDuration === undefined ? {} : { loopTimeoutDuration };
  const result = await executeBy(path, { device, preparedModel, model, request, options });
  if ("unsupported" in result) return { verdict: "unsupported", reason: result.unsupported };
  const damage = findDamage();
  if (damage !== undefined) return failOutcome(`execute: ${damage}`);
  if (statuses !== undefined) {
    if (statuses.includes(result.status)) return passed;
    const expected = statuses.map((status) => errorStatusNames.get(status)).join(" or ");
    return failOutcome(`execute: expected ${expected}, got ${describe(result)}`);
  }
  if (example.expectFailure) {
    if (result.status !== ErrorStatus.NONE) return passed;
    return failOutcome("the model is wrong, but it was prepared and executed without an error");
  }
  if (result.status !== ErrorStatus.NONE) return failOutcome(`execute: ${describe(result)}`);
  const { difference, error, deviations } = compareOutputs(example, result.outputShapes, outputBytes);
  const outcome = difference === undefined ? passed : failOutcome(difference);
  return { ...outcome, ...(error !== undefined && { error }), deviations };
}

function describe({ status, message }: { readonly status: ErrorStatus; readonly message?: string }): string {
  const name = errorStatusNames.get(status) ?? `status ${status}`;
  return message === undefined ? name : `${name}: ${message}`;
}
