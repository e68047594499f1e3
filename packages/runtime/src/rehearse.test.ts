import { expect, it } from "vitest";
import { rehearseExecution } from "./rehearse.ts";

it("executes with an input and an output of four bytes, each in a pool of its own", async () => {
  const argument = (poolIndex: number) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length: 4 },
    dimensions: [],
  });
  expect(await rehearseExecution()).toMatchObject({ inputs: [argument(0)], outputs: [argument(1)] });
});
