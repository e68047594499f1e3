import { ErrorStatus } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { Model } from "../model.ts";
import { addOperands } from "../models.test-helper.ts";
import { requestOf } from "../plan/divided.test-helper.ts";
import { answerReader } from "./execution-answer.ts";

/** The reader for a model whose output is a TENSOR_QUANT8_ASYMM of unknown rank. */
function unknownReader() {
  const model = new Model();
  const tensor = { type: "TENSOR_QUANT8_ASYMM", scale: 1 } as const;
  const [input, output] = addOperands(model, tensor, tensor);
  model.addOperation("RELU", [input], [output]);
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return answerReader(model.hal, "1.3");
}

describe("the shape of an output that is too small", () => {
  const request = requestOf([1], { room: 1 });
  const answer = (dimensions: readonly number[]) => ({
    status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
    outputShapes: [{ dimensions, isSufficient: false }],
  });

  it("is passed on up to the greatest size", () => {
    const dimensions = [2 ** 32 - 1];
    expect(unknownReader().read(answer(dimensions), request)).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions, isSufficient: false }],
    });
  });

  it("breaks a rule beyond the greatest size", () => {
    expect(() => unknownReader().read(answer([2 ** 16, 2 ** 16]), request)).toThrow(
      "output 0 [65536, 65536] takes 4294967296 bytes",
    );
  });
});
