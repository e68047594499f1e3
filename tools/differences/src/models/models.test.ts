import { importTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { deviceRunner } from "../device.ts";
import { builds, oracleAbsence } from "../oracle.ts";
import { createDraw } from "./draw.ts";
import { drawElements } from "./file.ts";
import { judge } from "./judge.ts";
import { type OracleProcess, openOracle } from "./oracle-process.ts";
import { documentWithModels, summarise } from "./report.ts";
import { type Compared, drawers, drawnFile } from "./run-models.ts";

/** Every row with NNHAL_FAULTS=all, else a part. */
const part = (step: number) => (_: unknown, at: number) => process.env.NNHAL_FAULTS === "all" || at % step === 0;
const rows = Object.entries(drawers).flatMap(([operator, { types }]) => types.map((type) => ({ operator, type })));

describe("drawn models", () => {
  it("are the same for the same seed, and can be imported", () => {
    expect(rows.length).toBeGreaterThan(400);
    for (const { operator, type } of rows.filter(part(3))) {
      const [first, second, other] = [5, 5, 6].map((seed) => drawers[operator]?.draw(createDraw(seed), type));
      if (first === undefined || second === undefined || other === undefined) throw new Error(operator);
      const file = drawnFile(operator, first);
      expect(file, operator).toEqual(drawnFile(operator, second));
      expect(drawElements(first, 1)).toEqual(drawElements(second, 1));
      // Some options that TensorFlow Lite refuses are refused here, too.
      if (operator !== "FAKE_QUANT") expect(() => importTflite(file), `${operator} ${type}`).not.toThrow();
    }
  });

  it("run on the reference", async () => {
    const run = await deviceRunner("reference");
    for (const { operator, type } of rows.filter(part(20)).filter((row) => row.operator !== "FAKE_QUANT")) {
      const model = drawers[operator]?.draw(createDraw(8), type);
      if (model === undefined) throw new Error(operator);
      const results = await run(drawnFile(operator, model), drawElements(model, 9));
      expect(typeof results === "string" ? `${operator}: ${results}` : results.length).toBe(model.outputs.length);
    }
  });
});

describe("judge", () => {
  it("allows floats a part of themselves, and quantised elements a step", () => {
    const kind = (...given: Parameters<typeof judge>) => judge(...given).kind;
    expect(kind("FLOAT32", false, Float32Array.of(1, 2), Float32Array.of(1, 2))).toBe("equal");
    expect(kind("FLOAT32", false, Float32Array.of(1, 2.00001), Float32Array.of(1, 2))).toBe("close");
    expect(kind("FLOAT32", false, Float32Array.of(1, 2.001), Float32Array.of(1, 2))).toBe("differs");
    expect(kind("FLOAT32", false, Float32Array.of(Number.NaN), Float32Array.of(Number.NaN))).toBe("equal");
    expect(kind("FLOAT32", false, Float32Array.of(1), Float32Array.of(Number.NaN))).toBe("differs");
    expect(kind("INT8", true, Int8Array.of(1), Int8Array.of(2))).toBe("close");
    expect(kind("INT8", true, Int8Array.of(1), Int8Array.of(3))).toBe("differs");
    expect(kind("INT32", false, Int32Array.of(1), Int32Array.of(2))).toBe("differs");
    expect(judge("INT64", false, BigInt64Array.of(1n), BigInt64Array.of(1n, 2n)).message).toBe(
      "1 elements, expected 2",
    );
  });
});

describe("the summary", () => {
  const base = { operator: "ADD", type: "INT8", seed: 1 } as const;
  const of = (
    litert: Compared["outcomes"]["litert"]["kind"],
    tfjs: Compared["outcomes"]["tfjs"]["kind"],
  ): Compared => ({
    ...base,
    outcomes: {
      litert: litert === "refused" ? { kind: litert, message: "" } : { kind: litert },
      tfjs: tfjs === "refused" ? { kind: tfjs, message: "" } : { kind: tfjs },
    },
  });

  it("counts what one of the builds judges", () => {
    const [summary] = summarise([
      of("equal", "differs"),
      of("close", "refused"),
      of("refused", "refused"),
      of("refused", "differs"),
      of("differs", "equal"),
      of("differs", "refused"),
    ]);
    expect(summary).toMatchObject({ models: 6, judged: 5, equal: 2, close: 1 });
    expect(summary?.differing).toHaveLength(2);
  });

  it("is a table between its marks", () => {
    const begin = "<!-- models: written by `npm run differences -- --models N --write` -->";
    const once = documentWithModels(summarise([of("equal", "equal")]), `a\n${begin}\nold\n<!-- end of models -->\nb`);
    expect(once).toContain("| ADD | INT8 | 1 | 1 | 1 | 0 | 0 |");
    expect(once).not.toContain("old");
    expect(() => documentWithModels([], "text")).toThrow("no place for the table");
  });
});

describe("TensorFlow Lite in a process", () => {
  it("runs one model after the other, says why it refuses one, and is begun again", async ({ skip }) => {
    const absence = oracleAbsence();
    skip(absence !== undefined, absence);
    const program = new URL("../main.ts", import.meta.url).pathname;
    const loader = new URL("../../../launcher/src/sources.mjs", import.meta.url).href;
    const oracle: OracleProcess = openOracle(program, "litert", builds, ["--import", loader]);
    try {
      const model = drawers.ABS?.draw(createDraw(1), "FLOAT32");
      if (model === undefined) throw new Error("ABS is not drawn");
      const size = model.inputs[0]?.shape.reduce((product, extent) => product * extent, 1) ?? 0;
      const elements = Float32Array.from({ length: size }, (_, at) => -at);
      const request = {
        model: drawnFile("ABS", model, [model.inputs[0]?.shape ?? []]),
        inputs: [new Uint8Array(elements.buffer)],
      };
      const expected = new Uint8Array(elements.map(Math.abs).buffer);
      expect(await oracle.run(request)).toEqual([expected]);
      expect(await oracle.run({ model: Uint8Array.of(1, 2), inputs: [] })).toEqual(expect.any(String));
      expect(await oracle.run(request)).toEqual([expected]);
    } finally {
      oracle.close();
    }
  });
});
