import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { operationTypes } from "@nnhal/types";
import { describe, expect, test } from "vitest";
import { commonNotes } from "./_common-notes.test-helper.ts";
import { differenceText, measuredDifferences, reasons } from "./_differences.test-helper.ts";
import { commonRows } from "./import/rows-common.ts";
import { customRows, rows as rareRows } from "./import/rows-rare.ts";
import { builtinOperators } from "./schema/builtin-operators.ts";

const rows = [...commonRows, ...rareRows];

const page = fileURLToPath(new URL("../../../docs/tflite.md", import.meta.url));
const steps = fileURLToPath(new URL("../../../docs/measurements-steps.md", import.meta.url));
const begin = "<!-- operators: written by packages/tflite/src/docs.test.ts (vitest -u) -->\n";
const end = "<!-- end of operators -->";

/** The operation of the extension for an operator: of its own name, or of the HAL operations that it becomes. */
function extensionOf(operator: string, operations: readonly string[]): readonly string[] {
  const names = new Set<string>(tfliteExtension.operations.map(({ name }) => name));
  const found = [operator, ...operations].filter((name) => names.has(name));
  return [...new Set(found)];
}

const stablehlo = (name: string) => `STABLEHLO_${name}`;

/** Operators that nothing computes: DELEGATE is private to a delegate, TensorFlow Lite has no kernel for the others. */
const refused: readonly string[] = [
  ...["CONCAT_EMBEDDINGS", "DELEGATE"],
  ...["ABS", "BROADCAST_IN_DIM", "CBRT", "CLAMP", "COMPARE", "CONCATENATE", "CONVERT", "CONVOLUTION", "COSINE"].map(
    stablehlo,
  ),
  ...["CUSTOM_CALL", "DIVIDE", "DOT_GENERAL", "DYNAMIC_SLICE", "DYNAMIC_UPDATE_SLICE", "EXPONENTIAL"].map(stablehlo),
  ...["FLOOR", "IOTA", "LOG", "LOGISTIC", "NEGATE", "OR", "POWER", "REDUCE", "REMAINDER", "RESHAPE"].map(stablehlo),
  ...["RSQRT", "SELECT", "SLICE", "SORT", "SUBTRACT", "TANH", "TRANSPOSE", "WHILE"].map(stablehlo),
];

/** All operators as a table, in the order of their names, and the refused ones in a sentence. */
function operatorTable(): string {
  const measured = measuredDifferences(readFileSync(steps, "utf8"));
  const byName = new Map<string, (typeof rows)[number]>(rows.map((row) => [row.operator, row]));
  const builtin = builtinOperators
    .filter(({ name }) => !name.startsWith("PLACEHOLDER") && name !== "CUSTOM")
    .map(({ name }) => {
      const { version, operations = [], note = commonNotes[name] } = byName.get(name) ?? {};
      const extension = extensionOf(name, operations);
      return { operator: name as string, version, operations, extension, note };
    });
  const custom = customRows.map(({ customCode, ...row }) => ({
    ...row,
    operator: customCode,
    extension: extensionOf(customCode, row.operations),
  }));
  const lines = [...builtin.filter(({ operator }) => !refused.includes(operator)), ...custom]
    .toSorted((a, b) => (a.operator < b.operator ? -1 : 1))
    .map(
      ({ operator, version = "", operations, extension, note = "" }) =>
        `| ${operator} | ${version} | ${operations.join(", ")} | ${extension.join(", ")} | ${note} | ${differenceText(operator, measured)} |`,
    );
  return [
    "| operator | HAL up to version | HAL operations | extension | | differs from TensorFlow Lite |",
    "|---|---|---|---|---|---|",
    ...lines,
    "",
    `Refused: DELEGATE, which is private to a delegate, and those that TensorFlow Lite has no kernel for: ${refused.filter((name) => name !== "DELEGATE").join(", ")}.`,
    "",
  ].join("\n");
}

describe("docs/tflite.md", () => {
  test("refuses nothing that TensorFlow Lite computes", () => {
    const known = new Set<string>(rows.map(({ operator }) => operator));
    const names = builtinOperators.map(({ name }) => name as string);
    const isOurs = (name: string) => known.has(name) || extensionOf(name, []).length > 0;
    const notComputed = names.filter((name) => !name.startsWith("PLACEHOLDER") && name !== "CUSTOM" && !isOurs(name));
    expect(notComputed.toSorted()).toEqual(refused.toSorted());
  });

  test("lists every operator, and what becomes of it", async () => {
    const text = readFileSync(page, "utf8");
    const [before, rest] = text.split(begin);
    const [, after] = (rest ?? "").split(end);
    await expect(`${before}${begin}\n${operatorTable()}\n${end}${after}`).toMatchFileSnapshot(page);
  });
});

describe("differences from TensorFlow Lite", () => {
  const measured = measuredDifferences(readFileSync(steps, "utf8"));

  test("are measured", () => {
    expect(measured.length).toBeGreaterThan(0);
  });

  test("have a reason if they are more than a step, or more in one direction", () => {
    const biased = measured.filter(({ largest, mean }) => largest > 1 || Math.abs(mean) > 0.01);
    expect(biased.map(({ operator }) => operator).filter((operator) => reasons[operator] === undefined)).toEqual([]);
  });

  test("are of operators that there are", () => {
    const known = new Set<string>(builtinOperators.map(({ name }) => name));
    const named = [...Object.keys(reasons), ...measured.map(({ operator }) => operator)];
    expect(named.filter((operator) => !known.has(operator))).toEqual([]);
  });

  test("are told with their share and steps, after which comes the reason", () => {
    const row = { operator: "NEG", type: "INT8", share: "50.17", largest: 255, mean: 0.5 };
    expect(differenceText("NEG", [row])).toMatch(/^INT8 by up to 255 steps in 50\.17 %\. INT8: the real number/);
    expect(differenceText("SUB", [{ ...row, operator: "SUB", largest: 1 }])).toBe("INT8 by 1 step in 50.17 %.");
    expect(differenceText("SUB", [row])).toBe("");
  });
});

describe("the extension", () => {
  /** Operations with codes from 2000 on. */
  const own: readonly string[] = [
    ...["AudioSpectrogram", "DETECTION_POSTPROCESS", "Mfcc", "NumericVerify"],
    ...["STRING_EQUAL", "STRING_GATHER", "STRING_INDEXES"],
  ];

  test("has operations of builtin operators or of the HAL alone", () => {
    const known = new Set<string>([...builtinOperators.map(({ name }) => name), ...Object.keys(operationTypes)]);
    const others = tfliteExtension.operations.map(({ name }) => name).filter((name) => !known.has(name));
    expect(others.toSorted()).toEqual(own);
  });

  test("has the code of the HAL's operation, or 1000 and the builtin operator's", () => {
    const builtin = new Map<string, number>(builtinOperators.map(({ name, code }) => [name, 1000 + code]));
    const hal = new Map(Object.entries(operationTypes).map(([name, { code }]) => [name, code]));
    for (const { name, code } of tfliteExtension.operations) {
      if (!own.includes(name)) expect([name, [builtin.get(name), hal.get(name)].includes(code)]).toEqual([name, true]);
    }
  });
});

describe("notes", () => {
  test("that are apart from the rows are of common operators without one", () => {
    const own = commonRows.filter(({ note }) => note === undefined).map(({ operator }) => operator as string);
    expect(Object.keys(commonNotes).filter((operator) => !own.includes(operator))).toEqual([]);
  });
});

describe("rows", () => {
  test("are of builtin operators, each once", () => {
    const operators = rows.map(({ operator }) => operator);
    const known = new Set(builtinOperators.map(({ name }) => name));
    expect(operators.filter((operator) => !known.has(operator))).toEqual([]);
    expect(new Set(operators).size).toBe(operators.length);
  });

  test("cover every HAL operation that has a builtin operator", () => {
    const covered = new Set<string>([...rows, ...customRows].flatMap(({ operations }) => operations));
    const others = Object.keys(operationTypes).filter((operation) => !covered.has(operation));
    expect(others).toEqual([
      "AXIS_ALIGNED_BBOX_TRANSFORM",
      "BOX_WITH_NMS_LIMIT",
      "CHANNEL_SHUFFLE",
      "GENERATE_PROPOSALS",
      "HEATMAP_MAX_KEYPOINT",
      "INSTANCE_NORMALIZATION",
      "RANDOM_MULTINOMIAL",
      "ROI_ALIGN",
      "ROI_POOLING",
      // Its result is a scalar, and the import knows it.
      "RANK",
      "OEM_OPERATION",
    ]);
  });
});
