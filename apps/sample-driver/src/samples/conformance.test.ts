/** Sample devices that differ through a fast selection of the conformance kit. */
import { runDeviceSuites, summarise } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { silentLogger } from "@nnhal/utils";
import { expect, it } from "vitest";
import { sampleBackend } from "./sample-backend.ts";
import { samples } from "./table.ts";

/** Every thirty-second case of the kit. */
function everyThirtySecond(): (name: string) => boolean {
  let place = 0;
  return () => place++ % 32 === 0;
}

const chosen = ["nnapi-sample_all", "nnapi-sample_quant", "nnapi-sample_minimal"];

it.each(samples.filter(({ name }) => chosen.includes(name)))(
  "$name passes every case that it has the operations for",
  async (sample) => {
    const backend = sampleBackend(sample);
    const device = await openDevice({ name: sample.name, backend, caching: false, log: silentLogger });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const { failures, passed } = await summarise(runDeviceSuites(device, { filter: everyThirtySecond() }));
    await device.close();
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(passed).toBeGreaterThan(5);
  },
);
