/** Facts of the objects of a driver of AIDL, its bursts and its buffers. */
import { createFence } from "@nnhal/driver-core/fence";
import { type AidlVersion, aidlVersions, DeviceType, ErrorStatus, type Memory, OperandType } from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, hasMethod, needMethod } from "../bench.ts";
import { expectThat, mismatch, statusName } from "../check.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { bytesIn, bytesOf, memoryWith, newMemory, valuesIn } from "../values.ts";
import { type Answer, aidlOf, ask, askFor, expectRefusal, isNewerModel, writeRequest } from "./driver.ts";
import { prepareSmall } from "./trial.ts";
import { finish, openBurst, waysOf } from "./ways.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

/** The hashes of the frozen interfaces. */
const hashes: Readonly<Record<AidlVersion, string>> = {
  aidl1: "ae57b48403df6752d8d8d56d215c3e31db74935d",
  aidl2: "04c95c94c96062e5faf35c00b4ae0e50a3f11d0d",
  aidl3: "8c2c4ca2327e6f779dad6119c03d832ea4e1def1",
  aidl4: "53178f8de9b8861df391cf0593f6f3e08adad33d",
};

async function expectInterface(bench: Bench, name: string, object: AIDL1.AidlInterface): Promise<void> {
  const number = await askFor(bench, `${name}.getInterfaceVersion`, () => object.getInterfaceVersion());
  const version = aidlVersions[number - 1];
  expectThat(version !== undefined, () => `${name}.getInterfaceVersion: expected 1 to 4, got ${number}`);
  expectThat(
    version === aidlOf(bench).version,
    () => `${name}.getInterfaceVersion: ${number}, and not that of its device`,
  );
  const hash = await askFor(bench, `${name}.getInterfaceHash`, () => object.getInterfaceHash());
  expectThat(hash === hashes[version], () => `${name}.getInterfaceHash: expected ${hashes[version]}, got ${hash}`);
}

const interfaceCases = group("interfaces", "aidl1", {
  async "each object says its version, and the hash of its definition"(bench) {
    const { device } = aidlOf(bench);
    await expectInterface(bench, "IDevice", device);
    const { model, trial } = await prepareSmall(bench);
    await expectInterface(bench, "IPreparedModel", model);
    await expectInterface(bench, "IBurst", await openBurst(bench, model));
    if (await hasMethod(bench, "executeFenced")) {
      const { callback, syncFence } = await askFor(bench, "IPreparedModel.executeFenced", () =>
        model.executeFenced(trial().request, [], false, -1n, -1n, -1n),
      );
      await bench.watch.within("IPreparedModel.executeFenced: its fence", async () => syncFence?.wait());
      await expectInterface(bench, "IFencedExecutionCallback", callback);
    }
    if (!isNewerModel(model)) return;
    const config = { measureTiming: false, loopTimeoutDurationNs: -1n, executionHints: [], extensionNameToPrefix: [] };
    const execution = await askFor(bench, "IPreparedModel.createReusableExecution", () =>
      model.createReusableExecution(trial().request, config),
    );
    await expectInterface(bench, "IExecution", execution);
    execution.close?.();
  },
  async "getCapabilities has performances above 0, sorted by type, and none of SUBGRAPH or an OEM"(bench) {
    const { device } = aidlOf(bench);
    const { operandPerformance, ...others } = await askFor(bench, "IDevice.getCapabilities", () =>
      device.getCapabilities(),
    );
    for (const [name, { execTime, powerUsage }] of Object.entries(others))
      expectThat(execTime > 0 && powerUsage > 0, () => `IDevice.getCapabilities: ${name}: expected numbers above 0`);
    let before = -1;
    for (const { type, info } of operandPerformance) {
      expectThat(type > before, () => `IDevice.getCapabilities: type ${type} follows ${before}`);
      const isOwn = type >= 0 && type < OperandType.OEM && type !== OperandType.SUBGRAPH;
      expectThat(isOwn, () => `IDevice.getCapabilities: type ${type} has none`);
      expectThat(
        info.execTime > 0 && info.powerUsage > 0,
        () => `IDevice.getCapabilities: type ${type}: expected numbers above 0`,
      );
      before = type;
    }
  },
  async "the other facts are of the kinds that AIDL has"(bench) {
    const { device } = aidlOf(bench);
    const type = await askFor(bench, "IDevice.getType", () => device.getType());
    expectThat(Object.values<number>(DeviceType).includes(type), () => `IDevice.getType: ${type} is not a DeviceType`);
    const text = await askFor(bench, "IDevice.getVersionString", () => device.getVersionString());
    expectThat(
      typeof text === "string" && text !== "",
      () => `IDevice.getVersionString: expected a text, got ${String(text)}`,
    );
    const files = await askFor(bench, "IDevice.getNumberOfCacheFilesNeeded", () =>
      device.getNumberOfCacheFilesNeeded(),
    );
    for (const count of [files.numModelCache, files.numDataCache]) {
      const isCount = Number.isInteger(count) && count >= 0 && count <= 32;
      expectThat(isCount, () => `IDevice.getNumberOfCacheFilesNeeded: expected 0 to 32, got ${count}`);
    }
    const extensions = await askFor(bench, "IDevice.getSupportedExtensions", () => device.getSupportedExtensions());
    expectThat(Array.isArray(extensions), () => "IDevice.getSupportedExtensions: expected a list");
    const names = new Set(extensions.map(({ name }) => name));
    expectThat(names.size === extensions.length, () => "IDevice.getSupportedExtensions: a name occurs twice");
  },
});

/** Runs a burst on a request with a name for each of its memories. */
async function runNamed(bench: Bench, burst: AIDL1.IBurst, request: AIDL1.Request, tokens: readonly bigint[]) {
  return finish(bench, "IBurst.executeSynchronously", {}, () =>
    burst.executeSynchronously(request, tokens, false, -1n, -1n),
  );
}

function expectDone(what: string, answer: Answer<unknown>): void {
  expectThat(answer.status === NONE, () => `${what}: expected NONE, got ${statusName(answer.status)}`);
}

const burstCases = group("bursts", "aidl1", {
  async "memories have names from 0 on, which are released after each run"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    for (let run = 0; run < 4; run++) {
      const one = trial({ offset: 64, padding: 64 });
      one.fill(run);
      const names = [2n * BigInt(run), 2n * BigInt(run) + 1n];
      expectDone(`IBurst.executeSynchronously, run ${run + 1}`, await runNamed(bench, burst, one.request, names));
      one.check(`IBurst.executeSynchronously, run ${run + 1}`);
      for (const name of names)
        expectDone(
          "IBurst.releaseMemoryResource",
          await ask(bench, "IBurst.releaseMemoryResource", () => burst.releaseMemoryResource(name)),
        );
    }
  },
  async "a memory of a name is read and written at each run"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    const one = trial({ padding: 8 });
    for (let run = 0; run < 3; run++) {
      one.fill(run);
      expectDone("IBurst.executeSynchronously", await runNamed(bench, burst, one.request, [5n, 2n ** 40n]));
      one.check(`IBurst.executeSynchronously, run ${run + 1}`);
    }
  },
  async "a name that is released can be of another memory"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    const [first, second] = [trial(), trial()];
    second.fill(1);
    expectDone("IBurst.executeSynchronously", await runNamed(bench, burst, first.request, [0n, 1n]));
    for (const name of [0n, 1n])
      await askFor(bench, "IBurst.releaseMemoryResource", () => burst.releaseMemoryResource(name));
    expectDone("IBurst.executeSynchronously", await runNamed(bench, burst, second.request, [0n, 1n]));
    second.check("IBurst.executeSynchronously on another memory of a name that was released");
  },
  async "a memory of -1 has no name: nothing of it is kept"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    for (let run = 0; run < 3; run++) {
      const one = trial();
      one.fill(run);
      expectDone("IBurst.executeSynchronously", await runNamed(bench, burst, one.request, [-1n, -1n]));
      one.check(`IBurst.executeSynchronously without names, run ${run + 1}`);
    }
  },
  async "names of one burst are none of another"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const [one, other] = [trial(), trial()];
    other.fill(3);
    expectDone(
      "IBurst.executeSynchronously",
      await runNamed(bench, await openBurst(bench, model), one.request, [0n, 1n]),
    );
    expectDone(
      "IBurst.executeSynchronously",
      await runNamed(bench, await openBurst(bench, model), other.request, [0n, 1n]),
    );
    other.check("IBurst.executeSynchronously of a second burst");
  },
  async "too few names, too many, and one below -1 are INVALID_ARGUMENT"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    const one = trial();
    for (const tokens of [[], [0n], [0n, 1n, 2n], [-2n, 1n], [0n, -2n], [0n, -(2n ** 63n)]]) {
      const answer = await runNamed(bench, burst, one.request, tokens);
      expectRefusal(`IBurst.executeSynchronously with names [${tokens.join(", ")}]`, answer, INVALID_ARGUMENT);
    }
    expectDone("IBurst.executeSynchronously after wrong names", await runNamed(bench, burst, one.request, [0n, 1n]));
    one.check("IBurst.executeSynchronously after wrong names");
  },
  async "releasing a name below -1 is INVALID_ARGUMENT; -1 and unknown ones have no effect"(bench) {
    const { model } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    const release = (name: bigint) =>
      ask(bench, "IBurst.releaseMemoryResource", () => burst.releaseMemoryResource(name));
    for (const name of [-2n, -(2n ** 63n)])
      expectRefusal(`IBurst.releaseMemoryResource of ${name}`, await release(name), INVALID_ARGUMENT);
    for (const name of [-1n, 0n, 77n]) expectDone(`IBurst.releaseMemoryResource of ${name}`, await release(name));
  },
  async "a second run beside one is computed or GENERAL_FAILURE"(bench) {
    const { model, trial } = await prepareSmall(bench);
    const burst = await openBurst(bench, model);
    const trials = [trial(), trial()];
    const answers = await Promise.all(trials.map(({ request }) => runNamed(bench, burst, request, [-1n, -1n])));
    expectThat(
      answers.some(({ status }) => status === NONE),
      () => "IBurst.executeSynchronously: of two runs none succeeds",
    );
    for (const [index, { status }] of answers.entries()) {
      if (status === NONE) trials[index]?.check("IBurst.executeSynchronously beside another");
      else
        expectThat(
          status === GENERAL_FAILURE,
          () => `IBurst.executeSynchronously beside another: ${statusName(status)}`,
        );
    }
  },
});

/** Allocates a buffer for the first input of a model. */
async function allocate(bench: Bench, model: AIDL1.IPreparedModel, roles: readonly AIDL1.BufferRole[] = [firstRole]) {
  const { device } = aidlOf(bench);
  if (bench.own.device.allocate === undefined) endAsUnsupported("device memory");
  return ask(bench, "IDevice.allocate", () =>
    device.allocate({ dimensions: [] }, [{ preparedModel: model }], roles, []),
  );
}

const firstRole: AIDL1.BufferRole = { modelIndex: 0, ioIndex: 0, probability: 1 };

/** A buffer for the first input; the case is unsupported if the device cannot hold one. */
async function bufferOf(bench: Bench, model: AIDL1.IPreparedModel): Promise<AIDL1.DeviceBuffer> {
  const answer = await allocate(bench, model);
  if (answer.status === GENERAL_FAILURE) endAsUnsupported("device memory");
  const made =
    answer.value ?? mismatch(`IDevice.allocate: expected NONE or GENERAL_FAILURE, got ${statusName(answer.status)}`);
  bench.after(() => made.buffer.close?.());
  return made;
}

const write = (memory: Memory): AIDL1.Memory => {
  const [pool] = writeRequest({ inputs: [], outputs: [], pools: [{ kind: "memory", memory }] }).pools;
  return pool !== undefined && "pool" in pool ? pool.pool : mismatch("the memory has no form in AIDL");
};

const bufferCases = group("buffers", "aidl1", {
  async "a buffer has a token above 0, and keeps what is copied to it"(bench) {
    const { small, model } = await prepareSmall(bench);
    const { buffer, token } = await bufferOf(bench, model);
    expectThat(Number.isInteger(token) && token > 0, () => `IDevice.allocate: expected a token above 0, got ${token}`);
    const other = await bufferOf(bench, model);
    expectThat(other.token !== token, () => `IDevice.allocate: two buffers have token ${token}`);
    await expectInterface(bench, "IBuffer", buffer);
    const values = sampleValues(small.type, 6, 4);
    await askFor(bench, "IBuffer.copyFrom", () => buffer.copyFrom(write(memoryWith(small.type, values)), []));
    const copy = newMemory(bytesOf(small.type, values).length);
    await askFor(bench, "IBuffer.copyTo", () => buffer.copyTo(write(copy)));
    const isSame = valuesIn(small.type, copy).every((value, index) => value === values[index]);
    expectThat(isSame, () => "IBuffer.copyTo: the buffer holds other values");
  },
  async "it is read by every way to execute, and without a value it is GENERAL_FAILURE each time"(bench) {
    const { small, model, trial } = await prepareSmall(bench);
    for (const { name, run } of await waysOf(bench)) {
      const { buffer, token } = await bufferOf(bench, model);
      const one = trial();
      const at = { poolIndex: 0, offset: 0, length: 0, padding: 0 };
      const request = {
        ...one.request,
        inputs: one.request.inputs.map((argument) => ({ ...argument, location: at })),
        pools: [{ token }, ...one.request.pools.slice(1)],
      };
      expectRefusal(`${name} on a buffer without a value`, await run(bench, model, request), GENERAL_FAILURE);
      for (const salt of [1, 2]) {
        one.fill(salt);
        const values = valuesIn(small.type, one.input);
        await askFor(bench, "IBuffer.copyFrom", () => buffer.copyFrom(write(memoryWith(small.type, values)), []));
        expectDone(`${name} on a buffer`, await run(bench, model, request));
        one.check(`${name} on a buffer`);
      }
      const padded = {
        ...request,
        inputs: request.inputs.map((argument) => ({ ...argument, location: { ...at, padding: 1 } })),
      };
      expectRefusal(`${name} on a buffer with padding`, await run(bench, model, padded), INVALID_ARGUMENT);
    }
  },
  async "wrong roles, no model and negative extents are INVALID_ARGUMENT, or GENERAL_FAILURE"(bench) {
    const { model } = await prepareSmall(bench);
    if (bench.own.device.allocate === undefined) endAsUnsupported("device memory");
    const { device } = aidlOf(bench);
    const wrong: readonly (readonly AIDL1.BufferRole[])[] = [
      [],
      [firstRole, firstRole],
      [{ ...firstRole, probability: 0 }],
      [{ ...firstRole, probability: -1 }],
      [{ ...firstRole, probability: 1.5 }],
      [{ ...firstRole, modelIndex: -1 }],
      [{ ...firstRole, modelIndex: 1 }],
      [{ ...firstRole, ioIndex: -1 }],
      [{ ...firstRole, ioIndex: 1 }],
    ];
    for (const roles of wrong) {
      expectRefusal(
        `IDevice.allocate of ${JSON.stringify(roles)}`,
        await allocate(bench, model, roles),
        INVALID_ARGUMENT,
        GENERAL_FAILURE,
      );
    }
    const calls = [
      () => device.allocate({ dimensions: [] }, [{ preparedModel: null }], [firstRole], []),
      () => device.allocate({ dimensions: [] }, [], [firstRole], []),
      () => device.allocate({ dimensions: [-2, 3] }, [{ preparedModel: model }], [firstRole], []),
    ];
    for (const call of calls)
      expectRefusal("IDevice.allocate", await ask(bench, "IDevice.allocate", call), INVALID_ARGUMENT, GENERAL_FAILURE);
  },
  async "copying with negative extents, or from memory of another size, is INVALID_ARGUMENT"(bench) {
    const { small, model } = await prepareSmall(bench);
    const { buffer } = await bufferOf(bench, model);
    const right = write(memoryWith(small.type, sampleValues(small.type, 6)));
    const half = write(newMemory(bytesIn(memoryWith(small.type, sampleValues(small.type, 3))).length));
    const calls: readonly (readonly [string, () => Promise<void>])[] = [
      ["IBuffer.copyFrom with negative extents", () => buffer.copyFrom(right, [-2, 3])],
      ["IBuffer.copyFrom of half a value", () => buffer.copyFrom(half, [])],
      ["IBuffer.copyTo half a value", () => buffer.copyTo(half)],
    ];
    await askFor(bench, "IBuffer.copyFrom", () => buffer.copyFrom(right, []));
    for (const [what, call] of calls) expectRefusal(what, await ask(bench, what, call), INVALID_ARGUMENT);
  },
  async "an execution behind fences waits before it reads a buffer"(bench) {
    await needMethod(bench, "executeFenced");
    const { small, model, trial } = await prepareSmall(bench);
    const { buffer, token } = await bufferOf(bench, model);
    const one = trial();
    one.fill(5);
    const { fence, signal } = createFence();
    const at = { poolIndex: 0, offset: 0, length: 0, padding: 0 };
    const inputs = one.request.inputs.map((argument) => ({ ...argument, location: at }));
    const request = { ...one.request, inputs, pools: [{ token }, ...one.request.pools.slice(1)] };
    const { syncFence } = await askFor(bench, "IPreparedModel.executeFenced", () =>
      model.executeFenced(request, [fence], false, -1n, -1n, -1n),
    );
    const values = valuesIn(small.type, one.input);
    await askFor(bench, "IBuffer.copyFrom", () => buffer.copyFrom(write(memoryWith(small.type, values)), []));
    signal();
    await bench.watch.within("IPreparedModel.executeFenced: its fence", async () => syncFence?.wait());
    one.check("IPreparedModel.executeFenced on a buffer that was filled meanwhile");
  },
});

export const objectCases: readonly SuiteCase[] = [...interfaceCases, ...burstCases, ...bufferCases];
