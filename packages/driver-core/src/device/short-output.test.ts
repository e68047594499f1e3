/**
 * Outputs whose shapes are known beforehand and that do not fit: nothing is run for them.
 */
import type { RunResult } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Model, type Request } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { absModel, absRequest, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

const { NONE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

/** Executes a model whose output has some bytes; returns the outcome and how often the backend ran. */
async function execute(
  length: number,
  dimensions: readonly number[],
  asked: readonly number[] = [],
  found: readonly number[] = [2],
) {
  let runs = 0;
  const run = (): RunResult => {
    runs++;
    return { status: NONE, outputShapes: [{ dimensions: found, isSufficient: true }] };
  };
  const device = await fakeDevice({ compile: async () => ({ ...succeeding, run }) });
  const input = elementAt(absModel.main.operands, 0);
  const output = elementAt(absModel.main.operands, 1);
  const model: Model = { ...absModel, main: { ...absModel.main, operands: [input, { ...output, dimensions }] } };
  const { preparedModel } = await device.prepareModel(model);
  const { request } = absRequest();
  const argument = elementAt(request.outputs, 0);
  const outputs = [{ ...argument, dimensions: asked, location: { ...argument.location, length } }];
  const short: Request = { ...request, outputs };
  return { runs: () => runs, result: await preparedModel?.execute(short) };
}

describe("an output", () => {
  it.each([
    ["the model", [2], []],
    ["the request", [0], [2]],
  ])("that is too small for the shape that %s says is refused before anything runs", async (_what, declared, asked) => {
    const { result, runs } = await execute(7, declared, asked);
    expect(result).toMatchObject({
      status: OUTPUT_INSUFFICIENT_SIZE,
      message: "output 0 of shape [2] does not fit its 7 bytes",
      outputShapes: [{ dimensions: [2], isSufficient: false }],
    });
    expect(runs()).toBe(0);
  });

  it("that is large enough, or of a shape that only the run finds, is run for", async () => {
    const found = [1];
    for (const { result, runs } of [
      await execute(8, [2]),
      await execute(7, [0], [], found),
      await execute(7, [], [], found),
    ]) {
      expect([result?.status, runs()]).toEqual([NONE, 1]);
    }
  });
});
