import { elementAt } from "@nnhal/operations";
import { addExample, operand } from "@nnhal/test-kit/examples";
import { describe, expect, it } from "vitest";
import { changeExample, outputExample, reread, toJson } from "./examples.test-helper.ts";
import { VectorFormatError } from "./fields.ts";
import { parseExample } from "./parse.ts";

type Json = ReturnType<typeof toJson>;

/** The message that parsing gives once `change` has been made to a good example. */
function messageAfter(change: (json: Json) => void): string {
  const json = toJson(addExample());
  change(json);
  try {
    parseExample(JSON.stringify(json));
  } catch (error) {
    expect(error).toBeInstanceOf(VectorFormatError);
    return error instanceof Error ? error.message : "";
  }
  return "no error";
}

describe("parseExample", () => {
  it("reads every field of an example", () => {
    const full = addExample({
      isRelaxed: true,
      expectedMultinomialDistributionTolerance: 0.1,
      referenced: [addExample().main],
    });
    expect(reread(full)).toEqual(full);
    const quantised = operand("TENSOR_QUANT8_SYMM_PER_CHANNEL", [2, 1], {
      lifetime: "CONSTANT_REFERENCE",
      channelQuant: { scales: [0.5, 0.25], channelDim: 0 },
      data: Uint8Array.of(1, 255),
    });
    const withScales = addExample({
      main: { ...addExample().main, operands: [...addExample().main.operands, quantised] },
    });
    expect(reread(withScales)).toEqual(withScales);
  });

  it("leaves out a version that is UNKNOWN", () => {
    const { minSupportedVersion: _, ...unknown } = addExample();
    expect(reread(unknown)).toEqual(unknown);
  });

  it("accepts what a model may be wrong in, and an omitted input", () => {
    const main = addExample().main;
    const wrong = addExample({
      expectFailure: true,
      main: { ...main, operands: main.operands.map((one) => ({ ...one, dimensions: [7], scale: -1 })) },
    });
    expect(reread(wrong)).toEqual(wrong);
    const omitted = addExample({
      main: { ...main, operands: main.operands.map((one, index) => (index === 0 ? { ...one, data: null } : one)) },
    });
    expect(reread(omitted)).toEqual(omitted);
  });

  it.each<[field: string, change: (json: Json) => void, message: RegExp]>([
    ["name", (json) => delete json.name, /^name: expected a string, found nothing/],
    ["spec", (json) => (json.spec = 5), /^spec: expected a string, found 5/],
    ["flag", (json) => (json.isRelaxed = "yes"), /^isRelaxed: expected true or false, found "yes"/],
    ["version", (json) => (json.minSupportedVersion = "V2_0"), /^minSupportedVersion: expected V1_0 to V1_3.*"V2_0"/],
    ["tolerance", (json) => (json.expectedMultinomialDistributionTolerance = null), /Tolerance: expected a number/],
    ["missing model", (json) => delete json.model, /^model: expected an object, found nothing/],
    ["model", (json) => (json.model = []), /^model: expected an object, found \[\]/],
    ["referenced", (json) => (json.model.referenced = {}), /^model\.referenced: expected a list, found \{\}/],
    ["operation", (json) => (json.model.main.operations[0] = 1), /^model\.main\.operations\[0\]: expected an object/],
    [
      "operation type",
      (json) => (json.model.main.operations[0].type = "toString"),
      /^model\.main\.operations\[0\]\.type: expected one of the HAL's names, found "toString"/,
    ],
    [
      "operand index",
      (json) => (json.model.main.operations[0].inputs[1] = 4),
      /^model\.main\.operations\[0\]\.inputs: expected a list of integers from 0 to 3, found \[0,4,2\]/,
    ],
    ["input index", (json) => (json.model.main.inputIndexes = [-1]), /^model\.main\.inputIndexes: .* found \[-1\]/],
    [
      "output index",
      (json) => (json.model.main.outputIndexes = [0.5]),
      /^model\.main\.outputIndexes: .* found \[0\.5\]/,
    ],
    ["type", (json) => (json.model.main.operands[2].type = "INT64"), /operands\[2\]\.type: .*"INT64"/],
    ["extents", (json) => (json.model.main.operands[0].dimensions = [1, -3]), /operands\[0\]\.dimensions: .*\[1,-3\]/],
    [
      "scale",
      (json) => (json.model.main.operands[0].scale = "1"),
      /operands\[0\]\.scale: expected a number, found "1"/,
    ],
    [
      "zero point",
      (json) => (json.model.main.operands[0].zeroPoint = 2 ** 31),
      /operands\[0\]\.zeroPoint: .*2147483648/,
    ],
    ["lifetime", (json) => (json.model.main.operands[0].lifetime = "INPUT"), /operands\[0\]\.lifetime: .*"INPUT"/],
    [
      "channelQuant",
      (json) => (json.model.main.operands[0].channelQuant = 1),
      /operands\[0\]\.channelQuant: .* found 1/,
    ],
    [
      "scales",
      (json) => (json.model.main.operands[0].channelQuant = { scales: ["a"], channelDim: 0 }),
      /operands\[0\]\.channelQuant\.scales: expected a list of numbers, found \["a"\]/,
    ],
    [
      "allowance",
      (json) => (json.model.main.operands[3].allowance = { absolute: -1, relative: 0 }),
      /operands\[3\]\.allowance\.absolute: expected a number from 0 up, found -1/,
    ],
    ["base64", (json) => (json.model.main.operands[0].data = "AAA"), /operands\[0\]\.data: expected base64 or null/],
    ["base64 letters", (json) => (json.model.main.operands[0].data = "A*A="), /operands\[0\]\.data: expected base64/],
    [
      "constant",
      (json) => (json.model.main.operands[1].data = null),
      /operands\[1\]\.data: .* value of the CONSTANT_COPY/,
    ],
    [
      "subgraph",
      (json) => Object.assign(json.model.main.operands[2], { lifetime: "SUBGRAPH", data: "AAA=" }),
      /operands\[2\]\.data: expected the 4 bytes of a subgraph's index/,
    ],
    [
      "expected value",
      (json) => (json.model.main.operands[3].dimensions = [4]),
      /operands\[3\]\.data: add_made_up\/add_made_up expects 16 bytes for a TENSOR_FLOAT32 of \[4\], found 12/,
    ],
    [
      "missing expected value",
      (json) => (json.model.main.operands[3].data = null),
      /operands\[3\]\.data: .*expects 12 bytes .*found 0/,
    ],
  ])("refuses a wrong %s and says where", (_, change, message) => {
    expect(messageAfter(change)).toMatch(message);
  });

  it("reads what a graph allows of each element, and inputs whose extents the model does not state", () => {
    const allowance = { absolute: 0, relative: 0, elements: [0, null, 0.5], bias: 0.25, meanSquare: 2 };
    const graph = changeExample(addExample(), { 0: { isUnspecified: true }, 3: { allowance } });
    expect(reread(graph)).toEqual(graph);
    for (const elements of [[-1], ["1"], {}]) {
      // As a file might have it.
      const wrong = { ...allowance, elements } as typeof allowance;
      expect(() => reread(changeExample(addExample(), { 3: { allowance: wrong } }))).toThrow(
        /allowance.elements: expected a list of numbers from 0 up, or null/,
      );
    }
  });

  it("accepts an expected output without elements only if its shape has none", () => {
    expect(elementAt(reread(outputExample("TENSOR_FLOAT32", [0, 4], null)).main.operands, 1).data).toBeNull();
    expect(() => reread(outputExample("TENSOR_FLOAT32", [], null))).toThrow(/expects 4 bytes/);
  });

  it("refuses what is not JSON, or not an object", () => {
    expect(() => parseExample('{"name": ')).toThrow(/^not JSON: /);
    expect(() => parseExample("[]")).toThrow("line: expected an object, found []");
    expect(() => parseExample("null")).toThrow("line: expected an object, found null");
  });

  it("refuses every truncation of a line", () => {
    const line = JSON.stringify(toJson(addExample()));
    for (let length = 0; length < line.length; length++) {
      expect(() => parseExample(line.slice(0, length))).toThrow(VectorFormatError);
    }
  });
});
