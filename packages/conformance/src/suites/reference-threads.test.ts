/**
 * The reference with two threads: the device suites, and trained networks, whose results are those of one thread. Threads load the sources as the tests
 * of a complete run do; in other runs there are none, and the tests of the backend suffice.
 */
import { readFileSync } from "node:fs";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { modelsFolder } from "@nnhal/test-kit/folders";
import { importTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { modelRunner } from "../model-runner.ts";
import { defineConformanceTests } from "../tests.ts";
import { findTrainedExamples } from "../trained-models.ts";

describe.runIf(process.env.NNHAL_TESTS === "all")("the reference with two threads", () => {
  const backend = createReferenceBackend({ threads: 2 });

  it("has them", async () => {
    const session = await backend.open();
    expect("choices" in session && session.choices).toEqual([{ subject: "threads", chosen: "2" }]);
    if ("close" in session) await session.close();
  });

  defineConformanceTests(it, () => openDevice({ backend }), {
    // The faces of HAL versions do not depend on threads: the reference runs through them.
    versions: [],
    lacks: ["unsupported operations"],
  });

  const examples = findTrainedExamples(modelsFolder);
  it("has the results of one, in each run of trained networks", { timeout: 300_000 }, async ({ skip }) => {
    skip(examples.length === 0, `there are no models at ${modelsFolder}; set NNHAL_MODELS to their folder`);
    const open = async (threads: number) => {
      const device = await openDevice({ backend: createReferenceBackend({ threads }) });
      if ("unavailable" in device) throw new Error(device.unavailable);
      return device;
    };
    const devices = [await open(1), await open(2)] as const;
    for (const { path, inputs } of new Map(examples.map((example) => [example.model, example])).values()) {
      const { model } = importTflite(new Uint8Array(readFileSync(path)));
      const given = inputs.map((input) => new Uint8Array(readFileSync(input.path)));
      const [one, two] = [await modelRunner(model, [devices[0]]), await modelRunner(model, [devices[1]])];
      const expected = await one(given);
      for (let run = 0; run < 3; run++) expect(await two(given)).toEqual(expected);
    }
    for (const device of devices) await device.close();
  });
});
