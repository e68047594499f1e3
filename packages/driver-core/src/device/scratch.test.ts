/** The idle watchdog: an idle prepared model releases its scratch memory, whichever way it was executed. */
import { manualClock } from "@nnhal/test-kit/clock";
import { ErrorStatus } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { createLocalBurst } from "../burst/local.ts";
import type { DeviceOptions } from "./device.ts";
import { absModel, absRequest, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

const { NONE } = ErrorStatus;
const second = 1_000_000_000n;

async function prepare(options: Partial<DeviceOptions> = {}, change: { releaseScratch?: () => void } = {}) {
  const clock = manualClock();
  const events: string[] = [];
  const executable = {
    ...succeeding,
    releaseScratch: () => {
      events.push("released");
    },
    close: () => {
      events.push("closed");
    },
    ...change,
  };
  const { now, timer } = clock;
  const device = await fakeDevice({ compile: async () => executable }, { now, timer, ...options });
  const { preparedModel } = await device.prepareModel(absModel);
  if (preparedModel === null) throw new Error("not prepared");
  const execute = async () => expect((await preparedModel.execute(absRequest().request)).status).toBe(NONE);
  return { clock, events, preparedModel, execute };
}

describe("scratch memory", () => {
  it("is given up when there was no execution for five seconds, once until the next", async () => {
    const { clock, events, execute } = await prepare();
    clock.advance(60n * second);
    expect(events).toEqual([]);
    await execute();
    clock.advance(5n * second);
    expect(events).toEqual([]);
    clock.advance(5n * second - 1n);
    expect(events).toEqual([]);
    clock.advance(1n);
    expect(events).toEqual(["released"]);
    clock.advance(60n * second);
    expect(events).toEqual(["released"]);
    await execute();
    clock.advance(5n * second);
    clock.advance(5n * second);
    expect(events).toEqual(["released", "released"]);
  });

  it("is kept while executions keep coming", async () => {
    const { clock, events, execute } = await prepare({ idleAfter: 10n });
    for (let turn = 0; turn < 20; turn++) {
      await execute();
      clock.advance(9n);
    }
    expect(events).toEqual([]);
    clock.advance(10n);
    clock.advance(10n);
    expect(events).toEqual(["released"]);
  });

  it("is given up after fenced executions and bursts too", async () => {
    const { clock, events, preparedModel } = await prepare({ idleAfter: 10n });
    await preparedModel.executeFenced?.(absRequest().request, []);
    clock.advance(10n);
    clock.advance(10n);
    expect(events).toEqual(["released"]);
    const { burst } = await createLocalBurst(preparedModel);
    expect((await burst?.compute(absRequest().request))?.status).toBe(NONE);
    clock.advance(10n);
    clock.advance(10n);
    expect(events).toEqual(["released", "released"]);
    await burst?.close();
  });

  it("ignores a prepared model that is closed", async () => {
    const { clock, events, preparedModel, execute } = await prepare({ idleAfter: 10n });
    await execute();
    preparedModel.close();
    expect(clock.waiting).toBe(0);
    clock.advance(100n);
    expect(events).toEqual(["closed"]);
  });

  it("does not end the process if releasing it fails", async () => {
    const releaseScratch = () => {
      throw new Error("on fire");
    };
    const { clock, execute } = await prepare({ idleAfter: 10n }, { releaseScratch });
    await execute();
    clock.advance(10n);
    expect(() => clock.advance(10n)).not.toThrow();
    await execute();
  });
});
