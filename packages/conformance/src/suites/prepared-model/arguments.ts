/** Requests without arguments that a model needs, or with too few or too many of them, in every way to execute. */
import {
  ErrorStatus,
  type ExecutionResult,
  type PreparedModel,
  type Request,
  type RequestArgument,
} from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, executeBy, hasMethod, prepare, smallModel, wayNames, wayOf } from "../bench.ts";
import { openBurst } from "../burst/open.ts";
import { expectStatus, expectThat, expectWords, mismatch } from "../check.ts";
import { expectValues, runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";
import { bytesIn, emptyMemory, memoryWith, requestFor, sizeOf, untouched } from "../values.ts";

const { INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

interface Wrong {
  readonly what: string;
  readonly allowed: readonly ErrorStatus[];
  spoil(request: Request, short: Request["pools"][number]): Request;
}

/** A request whose inputs have another length. */
function withInputLength({ inputs, ...request }: Request, change: (length: number) => number): Request {
  const changed = ({ location, ...input }: RequestArgument) => ({
    ...input,
    location: { ...location, length: change(location.length) },
  });
  return { ...request, inputs: inputs.map(changed) };
}

const wrong: readonly Wrong[] = [
  {
    what: "an input that must not be omitted, and is",
    allowed: [INVALID_ARGUMENT, GENERAL_FAILURE],
    spoil: (request) => ({
      ...request,
      inputs: [{ hasNoValue: true, location: { poolIndex: 0, offset: 0, length: 0 }, dimensions: [] }],
    }),
  },
  {
    what: "an input whose length is less than its tensor takes",
    allowed: [INVALID_ARGUMENT],
    spoil: (request) => withInputLength(request, (length) => length - 1),
  },
  {
    what: "an input without bytes",
    allowed: [INVALID_ARGUMENT],
    spoil: (request) => withInputLength(request, () => 0),
  },
  {
    what: "an input in a pool that is shorter than its tensor",
    allowed: [INVALID_ARGUMENT],
    spoil: (request, short) => ({
      ...withInputLength(request, () => (short.kind === "memory" ? short.memory.size : 0)),
      pools: [short, ...request.pools.slice(1)],
    }),
  },
];

/** A way to execute: those of the HAL, and a burst. */
type How = (typeof hows)[number];
const hows = [...wayNames, "burst"] as const;

const since = { execute: "1.0", launch: "1.0", executeFenced: "1.3", burst: "1.2" } as const;

async function execute(
  bench: Bench,
  how: How,
): Promise<{
  readonly preparedModel: PreparedModel;
  run(request: Request): Promise<Pick<ExecutionResult, "status" | "message">>;
}> {
  const small = await smallModel(bench);
  if (how === "burst") {
    if (!(await hasMethod(bench, "configureExecutionBurst"))) endAsUnsupported("bursts");
    const preparedModel = await prepare(bench, small.model);
    const { burst } = await openBurst(bench, preparedModel);
    if (burst === null) mismatch("configureExecutionBurst: there is no burst");
    return { preparedModel, run: (request) => burst.compute(request) };
  }
  const way = await wayOf(bench, how);
  const preparedModel = await prepare(bench, small.model, {}, way.device);
  return { preparedModel, run: (request) => executeBy(way, preparedModel, request) };
}

/**
 * Executes with more bytes than the tensors have: bytes behind an input are not read, and those behind an output not written.
 */
async function executeWithLength(bench: Bench, how: How): Promise<void> {
  const { run } = await execute(bench, how);
  const small = await smallModel(bench);
  const values = sampleValues(small.type, 6);
  const size = sizeOf(small.type, [values.length]);
  const output = emptyMemory(size + 12);
  const result = await run(requestFor([memoryWith(small.type, [...values, ...values.slice(1)])], [output]));
  const what = `${how} of arguments with more bytes than their tensors`;
  expectStatus(what, result, ErrorStatus.NONE);
  for (const expected of small.compute([values])) expectValues(what, small.type, output, expected);
  const place = bytesIn(output).findIndex((byte, index) => index >= size && byte !== untouched);
  expectThat(place < 0, () => `${what}: byte ${place} of an output of ${size} bytes has been written`);
}

export const argumentCases: readonly SuiteCase[] = hows.flatMap((how) => [
  ...casesOf("arguments", since[how], [how], () => `more bytes than a tensor takes (${how})`, executeWithLength),
  ...casesOf(
    "arguments",
    since[how],
    wrong,
    ({ what }) => `${what} (${how})`,
    async (bench, { what, allowed, spoil }) => {
      const { preparedModel, run } = await execute(bench, how);
      const small = await smallModel(bench);
      const trial = trialFor(small, [sampleValues(small.type, 6)]);
      const short = { kind: "memory", memory: memoryWith(small.type, sampleValues(small.type, 5)) } as const;
      const result = await run(spoil(trial.request, short));
      expectStatus(`${how} of ${what}`, result, ...allowed);
      expectWords(`${how} of ${what}`, result);
      // A fault of one request does not affect the next.
      await runTrial(preparedModel, trial);
    },
  ),
]);
