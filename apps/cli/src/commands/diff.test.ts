/** `nnhal diff` on the demo's networks and a device with a fault. */
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createReferenceBackend } from "@nnhal/backend-reference";
import type { Operation, OperationName } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import type { Engine } from "../backend-module.ts";
import type { DiffReport } from "../diff/report.ts";
import { referenceEngine, useFolder } from "../program.test-helper.ts";

const { run, get, path } = useFolder();
const digits = fileURLToPath(new URL("../../demo/digits-uint8.tflite", import.meta.url));

/** The reference under another name, with other results of an operation. */
function engineWith(name: OperationName, change: (element: number) => number): Engine {
  const definitionFor = (operation: Operation): Operation => {
    const { reference } = operation;
    if (operation.name !== name || reference === undefined) return operation;
    return {
      ...operation,
      *reference(args, outputs, context) {
        const running = reference(args, outputs, context);
        if (running) while (!running.next().done) yield;
        for (const output of Object.values(outputs).flat()) {
          if (output === undefined) continue;
          for (let index = 0; index < output.data.length; index++) output.data[index] = change(output.data[index] ?? 0);
        }
      },
    };
  };
  return {
    device: "nnhal-wrong",
    module: "wrong",
    load: async () => ({ ...createReferenceBackend({ definitionFor }), name: "wrong" }),
  };
}

const engines = (change: (element: number) => number, name: OperationName = "MAX_POOL_2D") => ({
  engines: [engineWith(name, change), referenceEngine],
});
const right = engines((element) => element);
const more = (element: number) => Math.min(255, element + 3);
const wrong = engines(more);

describe("nnhal diff", () => {
  it("says that all operations of a right device are right", async () => {
    const { stdout, stderr, exitCode } = await run(["diff", digits, "--device", "wrong"], right);
    expect(stdout).toMatch(/digits-uint8\.tflite: nnhal-wrong against nnhal-reference, noise of seed 1\n/);
    expect(stdout).toMatch(/All \d+ operations that were compared are right; the outputs are equal\.\n$/);
    expect([stderr, exitCode]).toEqual(["", 0]);
  });

  it("names the first wrong operation, with its error, and exits with 1", async () => {
    const { stdout, exitCode } = await run(["diff", digits, "--device", "wrong"], wrong);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^operation +operator +output +device +alone +differ +mean +SNR +network$/m);
    expect(stdout).toMatch(/^\d+ +MAX_POOL_2D .* nnhal-wrong +wrong +3 steps +[\d.]+ % +\+\d/m);
    expect(stdout).toMatch(
      /operation \d+, MAX_POOL_2D \(.*\), is the first that nnhal-wrong computes wrong: [\d.]+ % of the elements differ, by up to 3 steps \(\S+\), \+[\d.]+ in the mean, at element 0: expected \S+, got \S+\.\n$/,
    );
  });

  it("allows what --allow says, except for a bias", async () => {
    const args = ["diff", digits, "--device", "wrong"];
    // Ten elements have no bias.
    const few = engines((element) => (element < 128 ? element + 3 : element - 3), "SOFTMAX");
    expect((await run([...args, "--allow", "2"], few)).exitCode).toBe(1);
    expect((await run([...args, "--allow", "3"], few)).exitCode).toBe(0);
    expect((await run([...args, "--allow", "3"], wrong)).exitCode).toBe(1);
  });

  it("prints JSON with every operation, and lists all with --all", async () => {
    const { stdout } = await run(["diff", digits, "--device", "wrong", "--random", "2", "--json"], wrong);
    const report: DiffReport = JSON.parse(stdout);
    expect(report).toMatchObject({
      devices: ["nnhal-wrong"],
      against: ["nnhal-reference"],
      inputs: ["noise of seed 1", "noise of seed 2"],
      isRight: false,
    });
    const first = report.operations[report.first ?? -1];
    expect(first).toMatchObject({ operation: "MAX_POOL_2D", operator: "MAX_POOL_2D", verdict: "wrong" });
    expect(first?.outputs[0]?.alone).toMatchObject({ largest: 3, isFloat: false });
    const { stdout: all } = await run(["diff", digits, "--device", "wrong", "--all"], wrong);
    for (const { index } of report.operations) expect(all).toMatch(new RegExp(`^${index + 1} +[A-Z]`, "m"));
  });

  it("saves the wrong operation, which runs by itself and gives the judge's result", async () => {
    const { stdout, exitCode } = await run(["diff", digits, "--device", "wrong", "--save", "pieces"], wrong);
    expect(exitCode).toBe(1);
    const names = await readdir(path("pieces"));
    const model = names.find((name) => name.endsWith(".tflite")) ?? "";
    const base = model.replace(".tflite", "");
    expect(base).toMatch(/^\d{4}-max_pool_2d$/);
    expect(stdout).toContain(`saved pieces/${model} with pieces/${base}.input0.bin`);
    const args = ["run", `pieces/${model}`, "--input", `pieces/${base}.input0.bin`, "--output-dir", "results"];
    expect((await run([...args, "--device", "reference"])).exitCode).toBe(0);
    expect(await get("results/output0.bin")).toEqual(await get(`pieces/${base}.expected0.bin`));
    expect(await get(`pieces/${base}.actual0.bin`)).not.toEqual(await get(`pieces/${base}.expected0.bin`));
    expect(
      (await run(["diff", `pieces/${model}`, `pieces/${base}.input0.bin`, "--device", "wrong"], wrong)).exitCode,
    ).toBe(1);
  });

  it("writes a page with the error, the graph and the values of what differs", async () => {
    await run(["diff", digits, "--device", "wrong", "--html", "diff.html"], wrong);
    const html = new TextDecoder().decode(await get("diff.html"));
    expect(html).toMatch(/^<!doctype html>/);
    expect(html).toContain("is the first that nnhal-wrong computes wrong");
    expect(html).toMatch(/<svg class="histogram"/);
    expect(html).toMatch(/id="operation-\d+"/);
    expect(html).toContain(">4 MAX_POOL_2D<");
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
    expect(html).not.toContain("NaN");
  });

  it("has another judge with --against, and nothing to compare if it is the same device", async () => {
    const { stdout } = await run(["diff", digits, "--device", "reference", "--against", "wrong"], right);
    expect(stdout).toContain("nnhal-reference against nnhal-wrong");
    const same = await run(["diff", digits, "--device", "reference"], right);
    expect(same.stdout).toContain(
      "Nothing was compared: nnhal-reference computes no operation that nnhal-reference does not",
    );
    expect(same.exitCode).toBe(0);
  });

  it("takes files for inputs, one run each", async () => {
    const pictures = ["3-chalk.png", "7-mixture.png"].map((name) =>
      fileURLToPath(new URL(`../../demo/${name}`, import.meta.url)),
    );
    const { stdout, stderr } = await run(["diff", digits, ...pictures, "--device", "wrong"], right);
    expect(stderr).toBe("");
    expect(stdout).toContain(": nnhal-wrong against nnhal-reference, 2 runs");
  });

  it.each([
    [["--allow", "-1"], "Expected a number of at least 0"],
    [["--allow-float", "x"], "Expected a number of at least 0"],
    [["--random", "0"], "--random"],
    [["one.bin", "--random", "1"], "--random replaces inputs, but there are some"],
    [["--against", "none"], 'there is no device "none"'],
  ])("refuses %s", async (args, problem) => {
    const { stderr, exitCode } = await run(["diff", digits, ...args], right);
    expect(stderr).toContain(problem);
    expect(exitCode).toBe(2);
  });
});
