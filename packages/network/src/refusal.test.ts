import { partialBackend } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { load } from "./load.ts";

/** A model of one operator. */
function modelOf(
  name: string,
  shapes: Readonly<Record<string, readonly number[]>>,
  inputs: readonly number[],
  options = {},
): Uint8Array {
  const tensors = Object.entries(shapes).map(([tensor, shape]) => ({
    ...{ name: tensor, shape, type: "FLOAT32", isVariable: false },
  }));
  const operators = [{ name, version: 1, inputs: [...inputs], outputs: [inputs.length], options }];
  return writeTflite({
    ...{ version: 3, description: "", metadata: [], signatures: [] },
    subgraphs: [{ name: "", tensors: tensors as never, operators, inputs: [...inputs], outputs: [inputs.length] }],
  });
}

/** A device that takes no operation. */
const chip = partialBackend(createReferenceBackend({ extensions: [tfliteExtension] }), {
  name: "chip",
  whyNot: () => "nnhal.tflite operation 1156: not on this chip",
});

async function refusalOf(file: Uint8Array, devices = "reference") {
  const loading = load(file, { devices, engines: [chip] });
  return loading.then(
    () => undefined,
    (error: unknown) => error as { code: string; message: string; problems: readonly string[] },
  );
}

describe("a model that cannot run", () => {
  it("breaks a rule: its operator and tensors are named, and no place of the HAL", async () => {
    const file = modelOf("CONCATENATION", { left: [1, 4], right: [2, 3], joined: [2, 4] }, [0, 1], { axis: 0 });
    const refusal = await refusalOf(file);
    const text =
      'subgraphs[0].operators[0] (CONCATENATION version 1): CONCATENATION: input 1 has shape 2x3, which differs from input 0\'s 1x4 in more than axis 0 (inputs: "left" [1, 4]; inputs: "right" [2, 3])';
    expect(refusal).toMatchObject({
      code: "CANNOT_RUN",
      message: `the model cannot run: ${text}`,
      problems: [text],
    });
  });

  it("has an operator that no device supports, which is named as that of the file and of its extension", async () => {
    const refusal = await refusalOf(modelOf("ATAN2", { y: [2], x: [2], angle: [2] }, [0, 1]), "chip");
    const text =
      "subgraphs[0].operators[0] (ATAN2 version 1): no device supports it. nnhal-chip: nnhal.tflite ATAN2: not on this chip";
    expect(refusal).toMatchObject({ code: "CANNOT_RUN", message: `the model cannot run: ${text}`, problems: [text] });
  });

  it("has several operators that are not known: each has its line, with what helps", async () => {
    const operator = { name: "CUSTOM", version: 1, options: {}, inputs: [0], outputs: [1] };
    const tensor = { shape: [2], type: "FLOAT32", isVariable: false } as const;
    const codes = ["A", "B", "C", "D"];
    const file = writeTflite({
      ...{ version: 3, description: "", metadata: [], signatures: [] },
      subgraphs: [
        {
          name: "",
          tensors: ["x", ...codes].map((name) => ({ ...tensor, name })),
          operators: codes.map((customCode, at) => ({ ...operator, customCode, inputs: [at], outputs: [at + 1] })),
          inputs: [0],
          outputs: [4],
        },
      ],
    });
    const { message, problems = [] } = (await refusalOf(file)) ?? {};
    expect(message).toMatch(/^the model cannot run: 4 problems: .*"A"; give an extension .*"B".*"C".*; and 1 more$/);
    expect(problems.map((line) => /custom operator "(\w)"; give an extension/.exec(line)?.[1])).toEqual(codes);
  });
});
