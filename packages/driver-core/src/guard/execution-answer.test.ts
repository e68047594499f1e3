import { factsByCode } from "@nnhal/operations";
import { floorModel } from "@nnhal/test-kit/models";
import { ErrorStatus, MeasureTiming, type Model, OperandType } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { measured, requestOf } from "../versions/versions.test-helper.ts";
import { answerReader } from "./execution-answer.ts";

const { NONE, OUTPUT_INSUFFICIENT_SIZE, GENERAL_FAILURE } = ErrorStatus;

const readerOf = (model: Model | undefined) => answerReader(model, factsByCode([], []));
const success = (dimensions: readonly number[]) => ({
  status: NONE,
  outputShapes: [{ dimensions, isSufficient: true }],
  timing: measured,
});

describe("the answer to an execution", () => {
  const reader = readerOf(floorModel());
  const request = requestOf();
  const expected = reader.expect(request);

  it("is passed on as plain data", () => {
    expect(reader.read({ ...success([2]), more: 1 }, expected)).toEqual(success([2]));
    const failed = { status: GENERAL_FAILURE, message: "why" };
    expect(reader.read(failed, expected)).toEqual({ ...failed, outputShapes: [], timing: notMeasured });
  });

  it("has durations unless they were not asked for", () => {
    expect(reader.read(success([2]), expected, { measure: MeasureTiming.YES }).timing).toEqual(measured);
    expect(reader.read(success([2]), expected, { measure: MeasureTiming.NO }).timing).toEqual(notMeasured);
    const negative = { ...success([2]), timing: { timeOnDevice: -1n, timeInDriver: 2n } };
    expect(reader.read(negative, expected).timing).toEqual(notMeasured);
  });

  it("omits known shapes only where that is allowed", () => {
    const omitted = { status: NONE, outputShapes: [], timing: measured };
    expect(reader.read(omitted, expected, { mayOmitShapes: true })).toEqual(success([2]));
    expect(() => reader.read(omitted, expected)).toThrow("NONE comes with 0 shapes where there are 1 outputs");
  });

  it("has the dimensions of the model, or those that the request states", () => {
    expect(() => reader.read(success([3]), expected)).toThrow("output 0 has dimensions [3]");
    const open = readerOf(floorModel({ dimensions: [0] }));
    const [output] = request.outputs;
    if (output === undefined) throw new Error("no output");
    const stated = open.expect({ ...request, outputs: [{ ...output, dimensions: [3] }] });
    expect(open.read(success([3]), stated)).toEqual(success([3]));
    expect(() => open.read(success([2]), stated)).toThrow("output 0 has dimensions [2]");
    expect(open.read(success([2]), open.expect(request))).toEqual(success([2]));
  });

  it("of a model from a cache is known from the request", () => {
    const cached = readerOf(undefined);
    expect(cached.read(success([7, 7]), cached.expect(request))).toEqual(success([7, 7]));
    expect(() => cached.expect(JSON.parse("{}"))).toThrow(TypeError);
  });
});

describe("the shape of an output that is too small", () => {
  const reader = readerOf(floorModel({ type: OperandType.TENSOR_FLOAT16, dimensions: [] }));
  const read = (dimensions: readonly number[]) =>
    reader.read(
      { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [{ dimensions, isSufficient: false }] },
      reader.expect(requestOf()),
    );

  it("is passed on up to the greatest size", () => {
    const dimensions = [2 ** 31 - 1];
    expect(read(dimensions)).toMatchObject({
      status: OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions, isSufficient: false }],
    });
  });

  it("breaks a rule beyond the greatest size", () => {
    expect(() => read([2 ** 16, 2 ** 15])).toThrow("output 0 [65536, 32768] takes 4294967296 bytes");
  });
});
