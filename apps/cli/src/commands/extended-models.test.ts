/**
 * Models that are partly of the HAL and partly of the extension for .tflite, on the engines of this project: what the HAL has stays on the
 * engine, the reference runs the rest.
 */
import { describe, expect, it } from "vitest";
import { knownEngines } from "../engines.ts";
import { hybridModel, partlyExtendedModel, useFolder } from "../program.test-helper.ts";

const { run, put, get } = useFolder();

const runOn = async (device: string, ...more: string[]) => {
  const { stdout, stderr, exitCode } = await run(
    ["run", "waves.tflite", "--random", "1", "--device", device, ...more],
    {
      engines: knownEngines,
    },
  );
  expect({ stderr, exitCode }).toEqual({ stderr: expect.any(String), exitCode: 0 });
  return stdout;
};

const outputOf = async (device: string) => {
  await runOn(device, "--output-dir", device);
  return new Float32Array((await get(`${device}/output0.bin`)).slice().buffer);
};

// Engines are loaded: a busy machine takes its time.
describe("a model with an operator that the HAL lacks", { timeout: 120_000 }, () => {
  it.each(["tfjs", "gpujs"])("runs on %s and the reference, as on the reference alone", async (engine) => {
    await put("waves.tflite", partlyExtendedModel());
    const both = `${engine},reference`;
    const explained = await run(["explain", "waves.tflite", "--device", both, "--json"], { engines: knownEngines });
    expect(explained).toMatchObject({ stderr: "", exitCode: 0 });
    const { operations, steps } = JSON.parse(explained.stdout);
    expect(operations.map(({ type, device }: Record<string, unknown>) => [type, device])).toEqual([
      ["CONV_2D", `nnhal-${engine}`],
      ["nnhal.tflite COS", "nnhal-reference"],
      ["CONV_2D", `nnhal-${engine}`],
    ]);
    expect(steps).toHaveLength(3);
    expect(operations[1].devices[`nnhal-${engine}`]).toMatchObject({ supported: false, reason: expect.any(String) });
    const [split, alone] = [await outputOf(both), await outputOf("reference")];
    expect(split).toHaveLength(12 * 12 * 8);
    const worst = split.reduce((most, value, place) => Math.max(most, Math.abs(value - (alone[place] ?? 0))), 0);
    expect(worst).toBeLessThan(1e-4);
    expect(Math.max(...alone)).toBeGreaterThan(0.1);
  });
});

it("runs on ort alone, which computes operations of the extension", { timeout: 120_000 }, async () => {
  await put("waves.tflite", partlyExtendedModel());
  const explained = await run(["explain", "waves.tflite", "--device", "ort,reference", "--json"], {
    engines: knownEngines,
  });
  const { operations, steps } = JSON.parse(explained.stdout);
  expect(operations.map(({ type, device }: Record<string, unknown>) => [type, device])).toEqual([
    ["CONV_2D", "nnhal-ort"],
    ["nnhal.tflite COS", "nnhal-ort"],
    ["CONV_2D", "nnhal-ort"],
  ]);
  expect(steps).toHaveLength(1);
  const [fast, exact] = [await outputOf("ort"), await outputOf("reference")];
  expect(fast).toHaveLength(12 * 12 * 8);
  const worst = fast.reduce((most, value, place) => Math.max(most, Math.abs(value - (exact[place] ?? 0))), 0);
  expect(worst).toBeLessThan(1e-4);
});

describe("--hybrid", () => {
  const operationsOf = async (...more: string[]) => {
    await put("hybrid.tflite", hybridModel());
    const { stdout } = await run(["explain", "hybrid.tflite", "--json", "--device", "reference", ...more], {
      engines: knownEngines,
    });
    return JSON.parse(stdout).operations.map(({ type }: Record<string, unknown>) => type);
  };

  it("chooses how a layer with 8-bit weights is computed", async () => {
    expect(await operationsOf()).toEqual(["nnhal.tflite FULLY_CONNECTED"]);
    expect(await operationsOf("--hybrid", "quantised")).toEqual(["nnhal.tflite FULLY_CONNECTED"]);
    expect(await operationsOf("--hybrid", "widened")).toEqual(["DEQUANTIZE", "FULLY_CONNECTED"]);
  });

  it.each(["run", "explain", "bench"])("of %s has two forms", async (command) => {
    const { stderr, exitCode } = await run([command, "hybrid.tflite", "--hybrid", "exact"]);
    expect(stderr).toContain("Allowed choices are quantised, widened");
    expect(exitCode).toBe(2);
  });

  it("is told to the model that runs", async () => {
    await put("hybrid.tflite", hybridModel());
    const [quantised, widened] = await Promise.all(
      ["quantised", "widened"].map((form) =>
        run(["run", "hybrid.tflite", "--random", "1", "--device", "reference", "--hybrid", form, "--json"], {
          engines: knownEngines,
        }),
      ),
    );
    const valuesOf = (text = "") => JSON.parse(text).outputs[0].values;
    expect(valuesOf(quantised?.stdout)).not.toEqual(valuesOf(widened?.stdout));
    valuesOf(quantised?.stdout).forEach((value: number, place: number) => {
      expect(value).toBeCloseTo(valuesOf(widened?.stdout)[place], 1);
    });
  });
});
