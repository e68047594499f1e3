/**
 * The suite arithmetic on the reference device, and on devices that compute wrongly: what fails is found, made small, and can be run
 * again from its file and by its name.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { summarise } from "../result.ts";
import { faultyDevice, referenceDevice } from "../suites/faulty-device.test-helper.ts";
import type { Example } from "../vectors/example.ts";
import { parseExample } from "../vectors/parse.ts";
import { runVectors } from "../vectors/run.ts";
import { exampleLine } from "../vectors/write.ts";
import { type ArithmeticOptions, runArithmetic } from "./run.ts";

/** A device that adds to the last byte of each output pool: results beyond some size are wrong. */
function wrongDevice(wrong: (run: number) => boolean = () => true) {
  let runs = 0;
  return faultyDevice({
    preparedModel: ({ execute }) => ({
      async execute(request, options) {
        const result = await execute(request, options);
        const [output] = request.outputs;
        const pool = request.pools[output?.location.poolIndex ?? 0];
        if (result.status !== ErrorStatus.NONE || !output || pool?.kind !== "memory") return result;
        const { handle } = pool.memory;
        if (handle?.kind !== "buffer" || !wrong(runs++)) return result;
        const bytes = new Uint8Array(handle.buffer);
        const { offset } = output.location;
        bytes[offset] = elementAt(bytes, offset) ^ 0x40;
        return result;
      },
    }),
  });
}

const run = async (device: Parameters<typeof runArithmetic>[0], options: ArithmeticOptions) =>
  summarise(runArithmetic(device, options));

describe("runArithmetic", { timeout: 120_000 }, () => {
  it("passes on the reference device, for one operation or one example", async () => {
    const device = await referenceDevice();
    const whole = await run(device, { only: "LOGICAL_NOT" });
    expect(whole).toMatchObject({ failed: 0, unsupported: 0 });
    expect(whole.passed).toBeGreaterThan(10);
    for (const only of ["arithmetic/ADD/edge/0.plain.0", "ADD/edge/1.fine.1", "arithmetic/ADD/random/7.2"]) {
      const names: string[] = [];
      for await (const { name, verdict } of runArithmetic(device, { only })) names.push(`${name} ${verdict}`);
      expect(names).toEqual([`arithmetic/${only.replace("arithmetic/", "")} passed`]);
    }
  });

  it("refuses the name of no example, IF and WHILE among them", async () => {
    const device = await referenceDevice();
    for (const only of ["NOPE", "IF", "ADD/edge", "ADD/other/1", "ADD/edge/1", ""]) {
      await expect(run(device, { only })).rejects.toThrow(RangeError);
    }
  });

  it("makes what fails small, once for each operation, and it fails again from its line", async () => {
    const device = await wrongDevice();
    const kept: { example: Example; original: string }[] = [];
    const results = [];
    const keep = (example: Example, original: string) => {
      kept.push({ example, original });
      return "kept";
    };
    for await (const result of runArithmetic(device, { only: "SUB", keep })) results.push(result);
    expect(results.filter(({ verdict }) => verdict === "failed").length).toBeGreaterThan(10);
    expect(kept).toHaveLength(1);
    const { example, original } = elementAt(kept, 0);
    expect(results.find(({ name }) => name === original)?.reason).toMatch(/expected .*\nkept$/);
    for (const { lifetime, data } of example.main.operands) {
      if (lifetime === "SUBGRAPH_OUTPUT") expect(data?.length).toBeLessThanOrEqual(4);
    }
    const again = parseExample(exampleLine(example));
    expect(again).toEqual(example);
    expect(await summarise(runVectors(device, [again]))).toMatchObject({ passed: 0, failed: 1 });
    expect(await summarise(runVectors(await referenceDevice(), [again]))).toMatchObject({ passed: 1, failed: 0 });
  });

  it("finds what is wrong only after another execution", async () => {
    const summary = await run(await wrongDevice((index) => index % 3 === 2), { only: "ADD/edge/0.plain.0" });
    expect(elementAt(summary.failures, 0).reason).toMatch(/^after an execution with other inputs, ADD output 0/);
  });

  it("draws no more than a few examples of types that the device does not support", async () => {
    const right = await referenceDevice();
    const onlyQuantised = await faultyDevice({
      device: ({ getSupportedOperations }) => ({
        async getSupportedOperations(model) {
          const answer = await getSupportedOperations(model);
          const isQuantised = model.main.operands[0]?.type === OperandType.TENSOR_QUANT8_ASYMM;
          return isQuantised ? answer : { ...answer, supported: answer.supported.map(() => false) };
        },
      }),
    });
    const all = await run(right, { only: "TANH" });
    const some = await run(onlyQuantised, { only: "TANH" });
    // Float32, float16 and signed ones.
    expect(some).toMatchObject({ failed: 0, unsupported: 3 * 8 });
    expect(some.passed).toBeGreaterThan(5);
    expect(some.total).toBeLessThan(all.total);
    // Where a lost process was replaced, the same examples follow.
    const names: string[] = [];
    for await (const { name } of runArithmetic(onlyQuantised, { only: "TANH" })) names.push(name);
    const rest: string[] = [];
    for await (const { name } of runArithmetic(onlyQuantised, { only: "TANH", skip: 10 })) rest.push(name);
    expect(rest).toEqual(names.slice(10));
  });

  it("leaves out the examples before the one to begin with, and goes on with further seeds", async () => {
    const device = await referenceDevice();
    const names = async (options: ArithmeticOptions) => {
      const all: string[] = [];
      for await (const { name } of runArithmetic(device, options)) all.push(name);
      return all;
    };
    const all = await names({ only: "FLOOR" });
    expect(await names({ only: "FLOOR", skip: 3 })).toEqual(all.slice(3));
    for (const filter of ["edge/0", "floor/EDGE/0.plain", "FLOOR/random/1."]) {
      const chosen = all.filter((name) => name.toLowerCase().includes(filter.toLowerCase()));
      expect(chosen.length).toBeGreaterThan(0);
      expect(await names({ only: "FLOOR", filter })).toEqual(chosen);
    }
    expect(await names({ only: "FLOOR", filter: "hyphen" })).toEqual([]);
    let turns = 0;
    const further = await names({ only: "ABS", count: 1, goesOn: () => turns++ < 2 });
    expect(further.filter((name) => name.includes("random"))).toEqual(
      [1, 2, 3].map((seed) => `arithmetic/ABS/random/${seed}.0`),
    );
  });
});
