import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import { noModels, realModels } from "./_files.test-helper.ts";
import { expectValid, showSubgraph } from "./_model.test-helper.ts";
import { importTflite } from "./import/import.ts";
import type { TfliteModel, TfliteTensor } from "./model.ts";
import { readTflite } from "./read.ts";
import { writeTflite } from "./write.ts";

/** A model without the contents of its constants, which are compared as bytes: element by element takes too long. */
function outline(model: TfliteModel) {
  const constants: Uint8Array[] = [];
  const subgraphs = model.subgraphs.map((subgraph) => ({
    ...subgraph,
    tensors: subgraph.tensors.map(({ data, ...tensor }: TfliteTensor) => {
      if (data) constants.push(data);
      return { ...tensor, length: data?.length };
    }),
  }));
  return { outline: { ...model, subgraphs }, constants };
}

/** Expected facts of some models: operators, and the shapes of inputs and outputs. */
const expectations: Readonly<Record<string, object>> = {
  "mobilenet_v1_0.25_128_quant": {
    operators: 31,
    inputs: ["TENSOR_QUANT8_ASYMM[1,128,128,3]"],
    outputs: ["TENSOR_QUANT8_ASYMM[1,1001]"],
    states: 0,
  },
  "mobilenet_v1_0.25_128_quant.float": {
    operators: 31,
    inputs: ["TENSOR_FLOAT32[1,128,128,3]"],
    outputs: ["TENSOR_FLOAT32[1,1001]"],
    states: 0,
  },
  "mobilenet_v2_1.0_224_quant": {
    operators: 66,
    inputs: ["TENSOR_QUANT8_ASYMM[1,224,224,3]"],
    outputs: ["TENSOR_QUANT8_ASYMM[1,1001]"],
    states: 0,
  },
  person_detect: {
    operators: 31,
    inputs: ["TENSOR_QUANT8_ASYMM_SIGNED[1,96,96,1]"],
    outputs: ["TENSOR_QUANT8_ASYMM_SIGNED[1,2]"],
    states: 0,
  },
  trained_lstm: {
    operators: 4,
    inputs: ["TENSOR_FLOAT32[1,28,28]", "TENSOR_FLOAT32[1,20]", "TENSOR_FLOAT32[1,20]"],
    outputs: ["TENSOR_FLOAT32[1,10]", "TENSOR_FLOAT32[1,20]", "TENSOR_FLOAT32[1,20]"],
    states: 2,
  },
};

describe("real models", () => {
  if (realModels.length === 0) test(noModels, () => expect(realModels).toEqual([]));

  test.each(realModels)("$name, written again, reads back equal", ({ bytes }) => {
    const first = outline(readTflite(bytes));
    const second = outline(readTflite(writeTflite(readTflite(bytes))));
    expect(second.outline).toEqual(first.outline);
    expect(second.constants).toHaveLength(first.constants.length);
    for (const [i, constant] of first.constants.entries())
      expect(Buffer.compare(constant, elementAt(second.constants, i))).toBe(0);
  });

  test.each(realModels)("$name becomes a valid HAL model whose constants are the file", ({ name, bytes }) => {
    const imported = importTflite(bytes);
    expectValid(imported);
    const { model, inputs, outputs, operators, states } = imported;
    expect(model.pools.map(({ handle }) => handle)).toEqual([
      { kind: "buffer", buffer: bytes.buffer, byteOffset: bytes.byteOffset },
    ]);
    expect(model.operandValues.length).toBeLessThan(200);
    const show = (list: typeof inputs) => list.map(({ type, shape }) => `${type}[${shape.join()}]`);
    const facts = { operators: operators.length, inputs: show(inputs), outputs: show(outputs), states: states.length };
    expect(facts).toEqual(expectations[name] ?? facts);
    expect(operators.map(({ name: operator }) => operator)).toEqual(
      readTflite(bytes).subgraphs[0]?.operators.map((operator) => operator.name),
    );
    expect(showSubgraph(model, model.main)).toHaveLength(operators.length);
  });
});
