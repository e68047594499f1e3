import { expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { executeNothing, rehearse } from "./rehearse.ts";

type Compile = Parameters<typeof rehearse>[0];

/** Counts the compilations that a rehearsal creates. */
function makeCounting(): { readonly compile: Compile; readonly compiled: () => number } {
  let count = 0;
  return {
    compile: (model, devices) => {
      count++;
      return new Compilation(model, devices);
    },
    compiled: () => count,
  };
}

it("compiles and executes without an error", async () => {
  const { compile, compiled } = makeCounting();
  await executeNothing(compile);
  expect(compiled()).toBe(1);
});

it("happens once per process", async () => {
  await rehearse(makeCounting().compile);
  const { compile, compiled } = makeCounting();
  await rehearse(compile);
  expect(compiled()).toBe(0);
});
