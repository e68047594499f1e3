/** Attributes of extensions on their way from an application to a backend that reads them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend, Hint } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { asAidl4, liftDevice } from "@nnhal/driver-core/versions";
import { defineExtension } from "@nnhal/operations/authoring";
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type PrepareOptions,
  type PrepareResult,
  Priority,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { expect, it } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { addCompilationAttribute, addExecutionAttribute } from "./extension-attributes.ts";
import { addModel } from "./models.test-helper.ts";

const speed = defineExtension({ name: "com.example.speed", version: "1", operandTypes: {}, operations: [] });

/** The reference with an extension whose hints it notes. */
async function openNoting() {
  const compiled: (readonly Hint[] | undefined)[] = [];
  const ran: (readonly Hint[] | undefined)[] = [];
  const reference = createReferenceBackend({ extensions: [speed] });
  const backend: Backend = {
    ...reference,
    async open() {
      const session = await reference.open();
      if ("unavailable" in session) return session;
      return {
        ...session,
        hintedExtensions: [speed.name],
        async compile(graph, options) {
          compiled.push(options.hints);
          const executable = await session.compile(graph, options);
          return {
            ...executable,
            run(inputs, outputs, context) {
              ran.push(context.hints);
              return executable.run(inputs, outputs, context);
            },
          };
        },
      };
    },
  };
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, compiled, ran };
}

/** An execution with an attribute, which sums 1, 2 and 3, 4. */
function createSum(compilation: Compilation) {
  const execution = new Execution(compilation);
  const sum = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(3, 4));
  execution.setOutput(0, sum);
  addExecutionAttribute(execution, attribute(2, 20));
  return { execution, sum };
}

/** Sums twice with attributes. Returns what the backend read. */
async function sumTwice<Noted>(
  device: Device,
  noted: Noted,
  { setUp = () => {}, between = () => {}, burst = false }: SumOptions = {},
) {
  const compilation = new Compilation(addModel(), [device]);
  addCompilationAttribute(compilation, attribute(1, 10));
  setUp(compilation);
  await compilation.finish();
  const queue = burst ? await Burst.create(compilation) : undefined;
  for (const turn of [1, 2]) {
    const { execution, sum } = createSum(compilation);
    await (queue === undefined ? execution.compute() : execution.burstCompute(queue));
    expect([...sum]).toEqual([4, 6]);
    if (turn === 1) between();
  }
  queue?.close();
  compilation.close();
  return noted;
}

interface SumOptions {
  readonly setUp?: (compilation: Compilation) => void;
  readonly between?: () => void;
  readonly burst?: boolean;
}

const attribute = (code: number, value: number) => ({ extensionName: speed.name, code, data: Uint8Array.of(value) });
const ofCompilation = [{ extension: speed.name, code: 1, value: Uint8Array.of(10) }];
const ofExecution = [{ extension: speed.name, code: 2, value: Uint8Array.of(20) }];

/** A device whose prepared models are lost when `lose` is called, and its preparations. */
function makeLosing(device: Device) {
  const prepared: PrepareOptions[] = [];
  let losses = 0;
  const losing = (result: PrepareResult): PrepareResult => {
    const { preparedModel: model, ...outcome } = result;
    if (model === null) return result;
    const born = losses;
    const gone = { status: ErrorStatus.DEVICE_UNAVAILABLE, outputShapes: [], timing: notMeasured };
    const execute: typeof model.execute = async (...run) => (losses > born ? gone : model.execute(...run));
    return {
      ...outcome,
      preparedModel: {
        execute,
        get isLost() {
          return losses > born;
        },
        close: () => model.close(),
      },
    };
  };
  const wrapped: Device = {
    ...device,
    async prepareModel(model, options) {
      prepared.push(options ?? {});
      return losing(await device.prepareModel(model, options));
    },
    ...(device.prepareModelFromCache && {
      prepareModelFromCache: async (...call) => losing((await device.prepareModelFromCache?.(...call)) ?? never()),
    }),
  };
  return { wrapped, prepared, lose: () => losses++ };
}

function never(): never {
  throw new Error("the device keeps models");
}

it("attributes are given again to a device whose service was lost, with the settings of the compilation", async () => {
  const { device, ...noted } = await openNoting();
  const { wrapped, prepared, lose } = makeLosing(device);
  const setUp = (compilation: Compilation) => {
    compilation.setPriority(Priority.HIGH);
    compilation.setPreference(ExecutionPreference.LOW_POWER);
    compilation.setTimeout(60_000_000_000n);
  };
  const { compiled, ran } = await sumTwice(wrapped, noted, { setUp, between: lose });
  expect(compiled).toEqual([ofCompilation, ofCompilation]);
  expect(ran).toEqual([ofExecution, ofExecution]);
  const [{ deadline, ...first } = {}, again] = prepared;
  expect(deadline).toBeDefined();
  expect(again).toEqual(first);
  expect(first).toMatchObject({ priority: Priority.HIGH, preference: ExecutionPreference.LOW_POWER });
});

it("a model of a cache is prepared again with the settings of the compilation that looked for it", async () => {
  const { device, ...noted } = await openNoting();
  // A device that serialises its compiled models keeps those with attributes.
  const keeping: Device = {
    ...device,
    prepareModelFromCache: async (_cache, _options, model) =>
      model === undefined ? never() : device.prepareModel(model, { priority: Priority.LOW }),
  };
  const { wrapped, prepared, lose } = makeLosing(keeping);
  const directory = mkdtempSync(join(tmpdir(), "nnhal-hints-"));
  const setUp = (compilation: Compilation) => {
    compilation.setPriority(Priority.HIGH);
    compilation.setCaching(directory, new Uint8Array(32));
  };
  try {
    await sumTwice(wrapped, noted, { setUp });
    prepared.length = 0;
    await sumTwice(wrapped, noted, { setUp, between: lose });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  expect(prepared).toMatchObject([{ priority: Priority.HIGH, hints: { pairs: [{ value: Uint8Array.of(10) }] } }]);
  expect(prepared).toHaveLength(1);
});

it.each([
  ["of this process", (device: Device) => device],
  ["through the interface of AIDL 4", (device: Device) => throughAidl4(device)],
])("attributes of an execution reach the backend of a device %s in a burst", async (_, wrap) => {
  const { device, ...noted } = await openNoting();
  const { ran } = await sumTwice(wrap(device), noted, { burst: true });
  expect(ran).toEqual([ofExecution, ofExecution]);
});

const own = (device: Device): Device => device;
const throughAidl4 = (device: Device): Device => liftDevice(device.name, asAidl4(device));

it.each([
  ["of this process", own],
  ["through the interface of AIDL 4", throughAidl4],
])("attributes reach the backend of a device %s, in each run of a reusable execution", async (_, wrap) => {
  const { device, compiled, ran } = await openNoting();
  const compilation = new Compilation(addModel(), [wrap(device)]);
  addCompilationAttribute(compilation, attribute(1, 10));
  await compilation.finish();
  const { execution, sum } = createSum(compilation);
  execution.setReusable(true);
  await execution.compute();
  await execution.compute();
  expect([...sum]).toEqual([4, 6]);
  expect(compiled).toEqual([ofCompilation]);
  expect(ran).toEqual([ofExecution, ofExecution]);
});
