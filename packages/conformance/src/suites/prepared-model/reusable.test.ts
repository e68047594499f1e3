/** Each rule of reusable executions, broken alone, is found by the suite. */
import { describe } from "vitest";
import { itFinds } from "../faulty-device.test-helper.ts";
import { reusableFaults } from "../reusable-faults.test-helper.ts";

describe("a reusable execution", () => {
  itFinds(reusableFaults);
});
