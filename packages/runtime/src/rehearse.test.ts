import { expect, it } from "vitest";
import { rehearseArguments } from "./rehearse.ts";

it("sets an input and an output of four bytes, each in a pool of its own", () => {
  const argument = (poolIndex: number) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length: 4 },
    dimensions: [],
  });
  const { inputs, outputs, pools } = rehearseArguments();
  // What the arguments were set to is let go at the end, as after any execution.
  expect({ inputs, outputs }).toEqual({ inputs: [argument(0)], outputs: [argument(1)] });
  expect(pools).toHaveLength(2);
});
