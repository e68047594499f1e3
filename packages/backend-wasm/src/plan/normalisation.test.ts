/** Examples of the conformance kit that normalisations once computed wrong. */
import { runArithmetic, summarise } from "@nnhal/conformance";
import { expect, it } from "vitest";
import { deviceOf } from "../_devices.test-helper.ts";

it.each([
  ["L2_NORMALIZATION/random/1.67", "quantised elements of a small scale"],
  ["L2_NORMALIZATION/random/1.114", "signed elements of a small scale"],
  ["LOCAL_RESPONSE_NORMALIZATION/random/1.30", "powers of -Infinity"],
  ["LOCAL_RESPONSE_NORMALIZATION/random/1.38", "a power of 0 with other extents"],
])("%s: %s", async (name) => {
  const { passed, failures } = await summarise(runArithmetic(await deviceOf(), { only: `arithmetic/${name}` }));
  expect(failures).toEqual([]);
  expect(passed).toBe(1);
});
