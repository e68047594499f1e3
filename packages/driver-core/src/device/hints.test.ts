/** Hints of AIDL 4 on their way to a backend that reads those of an extension. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CompileOptions, Executable, Hint } from "@nnhal/backend";
import { ErrorStatus, type Hints } from "@nnhal/types";
import { createLogger, formatLogEntry } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { createFence } from "../fence/fence.ts";
import { openDevice } from "./device.ts";
import { absModel, absRequest, fakeBackend, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

const extension = "com.example.speed";
const hintsOf = (value: number, name = extension): Hints => ({
  pairs: [{ token: 2 ** 16 + 4, value: Uint8Array.of(value) }],
  extensionNameToPrefix: [{ name, prefix: 1 }],
});
const hint = (value: number): Hint => ({ extension, code: 4, value: Uint8Array.of(value) });

/** A device whose backend notes the hints that it gets. */
async function openNoting(hintedExtensions?: readonly string[]) {
  const compiled: CompileOptions["hints"][] = [];
  const ran: CompileOptions["hints"][] = [];
  const executable: Executable = {
    ...succeeding,
    run(inputs, outputs, context) {
      ran.push(context.hints);
      return succeeding.run(inputs, outputs, context);
    },
  };
  const device = await fakeDevice({
    ...(hintedExtensions && { hintedExtensions }),
    async compile(_, options) {
      compiled.push(options.hints);
      return executable;
    },
  });
  const prepare = async (hints?: Hints) => {
    const { preparedModel } = await device.prepareModel(absModel, hints && { hints });
    if (preparedModel === null) throw new Error("not prepared");
    return preparedModel;
  };
  return { device, prepare, compiled, ran };
}

describe("hints", () => {
  it("reach the backend that reads them, of a compilation and of each execution", async () => {
    const { prepare, compiled, ran } = await openNoting([extension]);
    const preparedModel = await prepare(hintsOf(1));
    await prepare();
    expect(compiled).toEqual([[hint(1)], undefined]);
    await preparedModel.execute(absRequest().request, { hints: hintsOf(2) });
    await preparedModel.execute(absRequest().request);
    expect(ran).toEqual([[hint(2)], undefined]);
  });

  it("reach it in fenced executions, at once and after a fence", async () => {
    const { prepare, ran } = await openNoting([extension]);
    const preparedModel = await prepare();
    const { fence, signal } = createFence();
    const launched = await preparedModel.executeFenced?.(absRequest().request, [fence], { hints: hintsOf(3) });
    signal();
    await launched?.syncFence?.wait();
    await preparedModel.executeFenced?.(absRequest().request, [], { hints: hintsOf(4) });
    expect(ran).toEqual([[hint(3)], [hint(4)]]);
  });

  it("of a reusable execution serve each of its runs, as they were when it was made", async () => {
    const { prepare, ran } = await openNoting([extension]);
    const value = Uint8Array.of(5);
    const hints: Hints = { ...hintsOf(5), pairs: [{ token: 2 ** 16 + 4, value }] };
    const created = await (await prepare()).createReusableExecution?.(absRequest().request, { hints });
    value[0] = 9;
    await created?.execution?.execute();
    await created?.execution?.execute();
    await created?.execution?.executeFenced([]);
    expect(ran).toEqual([[hint(5)], [hint(5)], [hint(5)]]);
  });

  it("of other extensions, and of a backend that reads none, are ignored", async () => {
    for (const hinted of [[extension], undefined]) {
      const { prepare, compiled, ran } = await openNoting(hinted);
      const preparedModel = await prepare(hintsOf(1, "com.example.other"));
      await preparedModel.execute(absRequest().request, { hints: hintsOf(2, "com.example.other") });
      expect([compiled, ran]).toEqual([[undefined], [undefined]]);
    }
  });

  it("that are not valid are refused by a device whose backend reads some", async () => {
    const { device, prepare } = await openNoting([extension]);
    const hints = { ...hintsOf(1), extensionNameToPrefix: [] };
    const refused = { status: ErrorStatus.INVALID_ARGUMENT, message: expect.stringContaining("expected a prefix of") };
    expect(await device.prepareModel(absModel, { hints })).toMatchObject(refused);
    const preparedModel = await prepare();
    const { request } = absRequest();
    expect(await preparedModel.execute(request, { hints })).toMatchObject(refused);
    expect(await preparedModel.executeFenced?.(request, [], { hints })).toMatchObject(refused);
    expect(await preparedModel.createReusableExecution?.(request, { hints })).toMatchObject(refused);
  });

  it("need a list of names", async () => {
    const backend = fakeBackend({ hintedExtensions: [5 as unknown as string] });
    const opened = await openDevice({ backend });
    expect(opened).toMatchObject({ unavailable: expect.stringContaining("its hintedExtensions: expected a list of") });
  });

  it.each([
    [false, "the model is compiled with hints"],
    [true, undefined],
  ])("of a model that is cached need a backend that can restore it: %s", async (restores, problem) => {
    const lines: string[] = [];
    const log = createLogger({ properties: () => "driver", sink: (entry) => lines.push(formatLogEntry(entry)) });
    const folder = mkdtempSync(join(tmpdir(), "nnhal-hints-"));
    try {
      const device = await fakeDevice(
        {
          hintedExtensions: [extension],
          compile: async () => ({ ...succeeding, serialize: async () => ({ model: [], data: [] }) }),
          ...(restores && { restore: async () => succeeding }),
        },
        { log },
      );
      const open = (name: string) => openSync(join(folder, name), "w+");
      const [model, data] = [open("model"), open("data")];
      const cache = {
        modelCache: [{ fds: [model], ints: [] }],
        dataCache: [{ fds: [data], ints: [] }],
        token: new Uint8Array(32),
      };
      await device.prepareModel(absModel, { hints: hintsOf(1), cache });
      closeSync(model);
      closeSync(data);
      expect(statSync(join(folder, "model")).size > 0).toBe(restores);
      expect(lines.join("\n").includes(problem ?? "nothing is cached")).toBe(problem !== undefined);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
