/** Runs that must end in time, and runs that are measured. */
import { describe, expect, it } from "vitest";
import { load } from "./load.ts";
import { openLocalSession } from "./local-session.ts";
import { addingModel } from "./models.test-helper.ts";
import type { Port } from "./port.ts";
import { serve } from "./serve.ts";

const named = { devices: "reference", engines: [] };
const automatic = { engines: [] };
const inputs = { left: [1, 2, 3, 4], right: [1, 1, 1, 1] };
const values = [1, 2].map((value) => ({
  bytes: new Uint8Array(new Float32Array(4).fill(value).buffer),
  shape: [2, 2],
}));

/** The other end of a worker in this thread, which does not get what it is to compute. */
function workerThatNeverComputes(): Port {
  let answer = (_: unknown) => {};
  let ask = (_: unknown) => {};
  serve({
    post: (message) => queueMicrotask(() => answer(message)),
    listen(listener) {
      ask = listener;
    },
  });
  return {
    post(message) {
      if (!(message instanceof Object && "ask" in message && message.ask === "compute")) ask(message);
    },
    listen(listener) {
      answer = listener;
    },
    hold() {},
    letGo() {},
    end: async () => {},
  };
}

describe("the timeout of a run", () => {
  it("is told to a device that was named, which ends its work", async () => {
    const session = await openLocalSession(addingModel(), named);
    await expect(session.compute(values, [], { timeout: 1e-6 })).rejects.toMatchObject({
      code: "TIMED_OUT",
      message: expect.stringMatching(/deadline/i),
    });
    expect((await session.compute(values, [], { timeout: 60_000 })).values).toHaveLength(1);
    await session.close();
  });

  it("is not told to devices with fallback, which the NNAPI does not have", async () => {
    const session = await openLocalSession(addingModel(), automatic);
    expect((await session.compute(values, [], { timeout: 1e-6, measure: true })).timing).toBeUndefined();
    await session.close();
  });

  it("ends the waiting for a worker that does not answer", async () => {
    await using model = await load(addingModel(), { ...automatic, worker: workerThatNeverComputes });
    await expect(model.run(inputs, { timeout: 1 })).rejects.toMatchObject({
      code: "TIMED_OUT",
      message: "the run failed: it was to take 1 ms at most",
    });
  });

  it("must be above 0", async () => {
    await using model = await load(addingModel(), named);
    for (const timeout of [0, -1, Number.NaN]) {
      await expect(model.run(inputs, { timeout })).rejects.toMatchObject({ code: "BAD_OPTION" });
    }
  });
});

it("a device that was named measures a run", async () => {
  await using model = await load(addingModel(), named);
  const times: unknown[] = [];
  await model.run(inputs, { onTiming: (timing) => times.push(timing) });
  expect(times).toEqual([{ inDriver: expect.any(Number), onHardware: expect.any(Number) }]);
});
