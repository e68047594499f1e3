/**
 * Executing on buffers, in every way there is.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type PreparedModel } from "@nnhal/types";
import { type ElementType, elementTypes } from "../../needs.ts";
import { type Bench, executeBy, prepare, smallModel, type Way, wayNames, wayOf } from "../bench.ts";
import { expectStatus } from "../check.ts";
import { expectBy, expectValues } from "../execution.ts";
import { type SmallModel, sampleValues } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, type Place, type PlacedArgument, requestFor, sizeOf } from "../values.ts";
import { allocate, type Buffer, fill, role } from "./buffers.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** A prepared model of two operations side by side, and what cases do with it. */
interface Ready {
  readonly bench: Bench;
  readonly way: Way;
  readonly small: SmallModel;
  readonly preparedModel: PreparedModel;
  readonly values: readonly number[];
  /** A memory with values, for an input. */
  input(): Place;
  /** A memory for an output. */
  output(): Place;
  /** A buffer for some inputs and outputs of the prepared model. */
  buffer(inputs: readonly number[], outputs: readonly number[]): Promise<Buffer>;
  /** Executes, and ends the case where the status is another. */
  expect(
    status: ErrorStatus,
    inputs: readonly (Place | PlacedArgument)[],
    outputs: readonly (Place | PlacedArgument)[],
  ): Promise<void>;
}

async function ready(bench: Bench, name: Way["name"], type?: ElementType): Promise<Ready> {
  const way = await wayOf(bench, name);
  const small = await smallModel(bench, { layout: "pair", ...(type && { type }) });
  const preparedModel = await prepare(bench, small.model, {}, way.device);
  const values = sampleValues(small.type, 6);
  return {
    bench,
    way,
    small,
    preparedModel,
    values,
    input: () => memoryWith(small.type, values),
    output: () => emptyMemory(sizeOf(small.type, [6])),
    buffer: (inputs, outputs) =>
      allocate(
        bench,
        {
          models: [preparedModel],
          inputs: inputs.map((index) => role(index)),
          outputs: outputs.map((index) => role(index)),
        },
        way.device,
      ),
    async expect(status, inputs, outputs) {
      await expectBy(way, preparedModel, requestFor(inputs, outputs), {}, status);
    },
  };
}

interface ExecutionTest {
  readonly what: string;
  run(ready: Ready): Promise<void>;
}

/** A token that no buffer has: greater than any that the cases make. */
const unknownToken = 1_000_000;

const uninitialised: ExecutionTest = {
  what: "a buffer without a value as an input, and with what an execution left there",
  async run({ buffer, expect, input, output }) {
    const { token } = await buffer([0], [0]);
    await expect(GENERAL_FAILURE, [token, input()], [output(), output()]);
    await expect(NONE, [input(), input()], [token, output()]);
    await expect(NONE, [token, input()], [output(), output()]);
  },
};

const tests: readonly ExecutionTest[] = [
  {
    what: "token 0, and a token that was never given out",
    async run({ expect, input, output }) {
      for (const token of [0, unknownToken]) {
        await expect(INVALID_ARGUMENT, [token, input()], [output(), output()]);
        await expect(INVALID_ARGUMENT, [input(), input()], [token, output()]);
      }
      await expect(NONE, [input(), input()], [output(), output()]);
    },
  },
  {
    what: "a buffer for another prepared model",
    async run({ bench, way, small, expect, input, output }) {
      const other = await prepare(bench, small.model, {}, way.device);
      const roles = { models: [other], inputs: [role(0)], outputs: [role(0)] };
      const { buffer, token } = await allocate(bench, roles, way.device);
      await fill(buffer, memoryWith(small.type, sampleValues(small.type, 6)));
      await expect(INVALID_ARGUMENT, [token, input()], [output(), output()]);
      await expect(INVALID_ARGUMENT, [input(), input()], [token, output()]);
    },
  },
  {
    what: "a buffer for another input or output",
    async run({ small, buffer, expect, input, output }) {
      const { buffer: filled, token } = await buffer([0], [0]);
      await fill(filled, memoryWith(small.type, sampleValues(small.type, 6)));
      await expect(INVALID_ARGUMENT, [input(), token], [output(), output()]);
      await expect(INVALID_ARGUMENT, [input(), input()], [output(), token]);
      await expect(NONE, [token, input()], [output(), output()]);
    },
  },
  {
    what: "an input's buffer as an output, and the other way round",
    async run({ small, buffer, expect, input, output }) {
      const [forInput, forOutput] = [await buffer([0], []), await buffer([], [0])];
      await fill(forOutput.buffer, memoryWith(small.type, sampleValues(small.type, 6)));
      await expect(INVALID_ARGUMENT, [input(), input()], [forInput.token, output()]);
      await expect(INVALID_ARGUMENT, [forOutput.token, input()], [output(), output()]);
    },
  },
  uninitialised,
  {
    what: "one buffer as several arguments of a request",
    async run({ small, buffer, expect, input, output }) {
      const { buffer: filled, token } = await buffer([0, 1], [0, 1]);
      await fill(filled, memoryWith(small.type, sampleValues(small.type, 6)));
      await expect(INVALID_ARGUMENT, [token, input()], [token, output()]);
      await expect(INVALID_ARGUMENT, [input(), input()], [token, token]);
      await fill(filled, memoryWith(small.type, sampleValues(small.type, 6)));
      await expect(NONE, [token, token], [output(), output()]);
    },
  },
  {
    what: "offset and length on a token",
    async run({ small, buffer, expect, input, output }) {
      const { buffer: filled, token } = await buffer([0], [0]);
      await fill(filled, memoryWith(small.type, sampleValues(small.type, 6)));
      for (const part of [{ offset: 1 }, { length: 1 }]) {
        await expect(INVALID_ARGUMENT, [{ at: token, ...part }, input()], [output(), output()]);
        await expect(INVALID_ARGUMENT, [input(), input()], [{ at: token, ...part }, output()]);
      }
    },
  },
  {
    what: "results in a buffer, and read from there",
    async run({ small, values, buffer, way, preparedModel }) {
      const [state, last] = [await buffer([0], [0]), await buffer([], [1])];
      const execute = async (request: ReturnType<typeof requestFor>) =>
        expectStatus(way.name, await executeBy(way, preparedModel, request), NONE);
      await execute(
        requestFor([memoryWith(small.type, values), memoryWith(small.type, values)], [state.token, last.token]),
      );
      const output = emptyMemory(sizeOf(small.type, [6]));
      await execute(requestFor([state.token, memoryWith(small.type, values)], [output, last.token]));
      const once = small.compute([values]);
      expectValues("what was computed twice", small.type, output, elementAt(small.compute(once), 0));
      expectStatus("copyTo", await last.buffer.copyTo(output), NONE);
      expectValues("what is in the buffer", small.type, output, elementAt(once, 0));
    },
  },
];

/** A model and a buffer whose first extent is open. */
async function openReady(bench: Bench, name: Way["name"]) {
  const way = await wayOf(bench, name);
  const small = await smallModel(bench, { dimensions: [0, 3], outputDimensions: [0, 3] });
  const preparedModel = await prepare(bench, small.model, {}, way.device);
  const roles = { models: [preparedModel], inputs: [role(0)], outputs: [role(0)] };
  const { buffer, token } = await allocate(bench, { ...roles, dimensions: [2, 3] }, way.device);
  const values = (rows: number) => ({
    at: memoryWith(small.type, sampleValues(small.type, 3 * rows)),
    dimensions: [rows, 3],
  });
  const target = (rows: number) => ({ at: emptyMemory(sizeOf(small.type, [3 * rows])), dimensions: [rows, 3] });
  const expect = async (status: ErrorStatus, input: PlacedArgument, output: PlacedArgument) => {
    await expectBy(way, preparedModel, requestFor([input], [output]), {}, status);
  };
  return { small, token, buffer, values, target, expect };
}

export const executeCases: readonly SuiteCase[] = [
  ...wayNames.flatMap((name) =>
    casesOf(
      "execute",
      "1.3",
      tests,
      ({ what }) => `${what} (${name})`,
      async (bench, { run }) => run(await ready(bench, name)),
    ),
  ),
  ...casesOf(
    "execute",
    "1.3",
    elementTypes.slice(1),
    (type) =>
      `a buffer without a value as an input, and with the value that an execution left there (execute, ${type})`,
    async (bench, type) => uninitialised.run(await ready(bench, "execute", type)),
  ),
  // Fenced executions know all dimensions, so that there is nothing to find out.
  ...casesOf(
    "execute",
    "1.3",
    ["execute", "launch"] as const,
    (name) => `dimensions that contradict the buffer's (${name})`,
    async (bench, name) => {
      const { small, token, buffer, values, target, expect } = await openReady(bench, name);
      await fill(buffer, memoryWith(small.type, sampleValues(small.type, 6)), [2, 3]);
      await expect(INVALID_ARGUMENT, { at: token, dimensions: [4, 3] }, target(4));
      await expect(INVALID_ARGUMENT, values(4), { at: token, dimensions: [4, 3] });
      await expect(NONE, { at: token, dimensions: [2, 3] }, target(2));
      await expect(NONE, values(2), { at: token, dimensions: [2, 3] });
    },
  ),
  ...casesOf(
    "execute",
    "1.3",
    ["execute", "launch"] as const,
    (name) => `a shape that only the execution finds, and that contradicts the buffer's (${name})`,
    async (bench, name) => {
      const { token, values, expect } = await openReady(bench, name);
      await expect(GENERAL_FAILURE, values(4), { at: token });
      await expect(NONE, values(2), { at: token });
    },
  ),
];
