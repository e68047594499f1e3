import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Execution } from "./execution.ts";
import { addModel, compile, float32, openReference, operationModel, run } from "./models.test-helper.ts";
import { ResultCode } from "./result-code.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

const code = (name: keyof typeof ResultCode) => expect.objectContaining({ code: ResultCode[name] });

describe("Execution", () => {
  it("computes", async () => {
    await expect(
      run(
        addModel(),
        device,
        [
          [1, 2],
          [10, 20],
        ],
        2,
      ),
    ).resolves.toEqual({ values: [11, 22], dimensions: [2] });
  });

  it("runs as often as executions are made, also at the same time", async () => {
    const compilation = await compile(addModel(), [device]);
    const sums = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const execution = new Execution(compilation);
        execution.setInput(0, Float32Array.of(index, index));
        execution.setInput(1, Float32Array.of(1, 2));
        const sum = new Float32Array(2);
        execution.setOutput(0, sum);
        await execution.compute();
        return [...sum];
      }),
    );
    expect(sums).toEqual(Array.from({ length: 20 }, (_, index) => [index + 1, index + 2]));
  });

  it("takes unknown extents of the model from the inputs, and reports the output's", async () => {
    const compilation = await compile(addModel(float32(0, 2), float32(2), float32(0, 0)), [device]);
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]);
    execution.setInput(1, Float32Array.of(10, 20));
    const output = new Float32Array(6);
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([11, 22, 13, 24, 15, 26]);
    expect(execution.getOutputOperandDimensions(0)).toEqual([3, 2]);
  });

  it("reports OUTPUT_INSUFFICIENT_SIZE and the necessary size", async () => {
    const compilation = await compile(addModel(float32(3), float32(3), float32(0)), [device]);
    for (const [length, enough] of [
      [2, false],
      [3, true],
    ] as const) {
      const execution = new Execution(compilation);
      execution.setInput(0, Float32Array.of(1, 2, 3));
      execution.setInput(1, Float32Array.of(1, 2, 3));
      execution.setOutput(0, new Float32Array(length));
      if (enough) await execution.compute();
      else await expect(execution.compute()).rejects.toThrow(code("OUTPUT_INSUFFICIENT_SIZE"));
      expect(execution.getOutputOperandDimensions(0)).toEqual([3]);
    }
  });

  it("omits an input that may be omitted", async () => {
    const model = operationModel(
      "TRANSPOSE",
      [float32(2, 3), { type: "TENSOR_INT32", dimensions: [2] }],
      [],
      [float32(3, 2)],
    );
    const execution = new Execution(await compile(model, [device]));
    execution.setInput(0, Float32Array.of(1, 2, 3, 4, 5, 6));
    execution.setInput(1, null);
    const output = new Float32Array(6);
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([1, 4, 2, 5, 3, 6]);
  });

  it("fails with the operation and the reason if the inputs cannot be computed", async () => {
    const indices = { type: "TENSOR_INT32", dimensions: [1] } as const;
    const model = operationModel("EMBEDDING_LOOKUP", [indices, float32(3, 1)], [], [float32(1, 1)]);
    const execution = new Execution(await compile(model, [device]));
    execution.setInput(0, Int32Array.of(3));
    execution.setInput(1, Float32Array.of(1, 2, 3));
    execution.setOutput(0, new Float32Array(1));
    const failed = execution.compute();
    await expect(failed).rejects.toThrow(code("OP_FAILED"));
    await expect(failed).rejects.toThrow("operation 1 (EMBEDDING_LOOKUP): ");
    expect(() => execution.getOutputOperandDimensions(0)).toThrow(code("BAD_STATE"));
  });

  it("measures if asked to", async () => {
    const compilation = await compile(addModel(), [device]);
    const execution = new Execution(compilation);
    execution.setMeasureTiming(true);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(1, 2));
    execution.setOutput(0, new Float32Array(2));
    await execution.compute();
    const onHardware = execution.getDuration("onHardware");
    const inDriver = execution.getDuration("inDriver");
    expect(onHardware).toBeTypeOf("bigint");
    expect(inDriver).toBeGreaterThanOrEqual(Number(onHardware));
  });

  describe("state and arguments", () => {
    const open = async () => new Execution(await compile(addModel(), [device]));

    it("refuses an argument that is set twice, does not exist, or is missing", async () => {
      const execution = await open();
      execution.setInput(0, Float32Array.of(1, 2));
      expect(() => execution.setInput(0, Float32Array.of(1, 2))).toThrow(code("BAD_STATE"));
      expect(() => execution.setInput(2, Float32Array.of(1, 2))).toThrow(code("BAD_DATA"));
      expect(() => execution.setOutput(1, new Float32Array(2))).toThrow(code("BAD_DATA"));
      await expect(execution.compute()).rejects.toThrow(code("BAD_DATA"));
      await expect(execution.compute()).rejects.toThrow("input 1 is not set");
      // The refusals left the execution usable.
      execution.setInput(1, Float32Array.of(1, 2));
      const output = new Float32Array(2);
      execution.setOutput(0, output);
      await execution.compute();
      expect([...output]).toEqual([2, 4]);
    });

    it("runs once", async () => {
      const execution = await open();
      execution.setInput(0, Float32Array.of(1, 2));
      execution.setInput(1, Float32Array.of(1, 2));
      execution.setOutput(0, new Float32Array(2));
      const running = execution.compute();
      await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
      await running;
      await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
      expect(() => execution.setInput(0, Float32Array.of(1, 2))).toThrow(code("BAD_STATE"));
      expect(() => execution.setMeasureTiming(true)).toThrow(code("BAD_STATE"));
    });

    it("has no results before it ran and no duration if it was not measured", async () => {
      const execution = await open();
      expect(() => execution.getOutputOperandDimensions(0)).toThrow(code("BAD_STATE"));
      expect(() => execution.getDuration("inDriver")).toThrow(code("BAD_STATE"));
      execution.setInput(0, Float32Array.of(1, 2));
      execution.setInput(1, Float32Array.of(1, 2));
      execution.setOutput(0, new Float32Array(2));
      await execution.compute();
      expect(() => execution.getDuration("inDriver")).toThrow(code("BAD_STATE"));
      expect(() => execution.getOutputOperandDimensions(1)).toThrow(code("BAD_DATA"));
    });

    it("refuses a buffer that is not of the size of its shape", async () => {
      const execution = await open();
      for (const length of [1, 3]) {
        expect(() => execution.setInput(0, new Float32Array(length))).toThrow(code("BAD_DATA"));
        expect(() => execution.setOutput(0, new Float32Array(length))).toThrow(code("BAD_DATA"));
      }
      expect(() => execution.setInput(0, new Float32Array(2))).not.toThrow();
      expect(() => execution.setOutput(0, new Float32Array(2))).not.toThrow();
    });

    it("refuses extents that contradict the model", async () => {
      const execution = await open();
      for (const dimensions of [[3], [0], [1, 2], [2.5], [-2]]) {
        expect(() => execution.setInput(0, new Float32Array(3), dimensions)).toThrow(code("BAD_DATA"));
        expect(() => execution.setOutput(0, new Float32Array(3), dimensions)).toThrow(code("BAD_DATA"));
      }
      expect(() => execution.setInput(0, new Float32Array(2), [2])).not.toThrow();
    });
  });
});
