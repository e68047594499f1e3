/**
 * Quantised networks on the fast engines, held against the outputs of TensorFlow Lite: the largest difference in steps, the
 * share of the elements that differ, and their mean, which shows a bias. NNHAL_CORPUS names their folder. By default a sample runs, with
 * NNHAL_FAULTS=all every network with outputs of 8 bits (networks.test.ts has DeepLab, whose output are classes); NNHAL_LIST_DIFFERENCES=1 lists the numbers.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gpujsBackend } from "@nnhal/backend-gpujs";
import { ortBackend } from "@nnhal/backend-ort";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { modelRunner } from "@nnhal/conformance";
import type { DeviceOptions } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { elementAt, elementCount } from "@nnhal/operations";
import { corpusFolder as folder } from "@nnhal/test-kit/folders";
import { everyFault } from "@nnhal/test-kit/samples";
import { importTflite } from "@nnhal/tflite";
import { type Operand, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOf } from "./devices.test-helper.ts";

const small = [
  "tiny__kws_ref_model",
  "tiny__aww_ref_model",
  "tiny__vww_96_int8_h2",
  "micro-wake-word-models__hey_jarvis",
  "tflite-micro__hello_world_int8",
];
const others = [
  ...["alexa_2", "choo_choo_homie", "hey_home_assistant", "hey_jarvis_2", "hey_mycroft", "okay_nabu", "vad"].map(
    (name) => `micro-wake-word-models__${name}`,
  ),
  "tflite-micro__micro_speech_lstm",
  "tflite-micro__mobilenet_v2_quantized_1x3x224x224",
  "tflite-micro__trained_lstm_int8",
  "tflite-support__automl_labeler_model",
  "tiny__aww_model_h2",
  "tiny__model_ToyCar_quant_fullint_micro_intio",
  "tiny__pretrainedResnet_large_int8",
  "tiny__pretrainedResnet_quant",
  "tiny__str_ww_ref_model",
  "tiny__vww_96_14blk_836k_int8",
  "tiny__vww_96_int8_h3",
  "tiny__vww_96_int8_old",
];

const extensions = [tfliteExtension];
const readFile = (name: string) => new Uint8Array(readFileSync(join(folder, name)));

/** The bytes of a quantised tensor of the real number 0, which is the zero point. */
function zerosOf({ type, dimensions, zeroPoint }: Operand): Uint8Array {
  const elements = type === OperandType.TENSOR_QUANT16_SYMM ? Int16Array : Uint8Array;
  return new Uint8Array(new elements(elementCount(dimensions)).fill(zeroPoint).buffer);
}

/** The differences of the outputs of 8 bits from those of TensorFlow Lite. */
async function differencesOf(name: string, backend: DeviceOptions["backend"]): Promise<number[]> {
  const file = `${name}.tflite`;
  const { model, inputs, outputs, states } = importTflite(readFile(file));
  const run = await modelRunner(model, [
    await deviceOf(backend),
    await deviceOf(createReferenceBackend({ extensions })),
  ]);
  let given = 0;
  const bytes = inputs.map((_, place) => {
    const state = states.find(({ input }) => input === place);
    if (state === undefined) return readFile(`${file}.in${given++}.bin`);
    return state.initial ?? zerosOf(elementAt(model.main.operands, elementAt(model.main.inputIndexes, place)));
  });
  const results = await run(bytes);
  return outputs.flatMap(({ tensorType }, place) => {
    if (states.some(({ output }) => output === place) || (tensorType !== "INT8" && tensorType !== "UINT8")) return [];
    const elements = tensorType === "INT8" ? Int8Array : Uint8Array;
    const expected = elements.from(new elements(readFile(`${file}.out${place}.bin`).buffer));
    const actual = new elements(elementAt(results, place).slice().buffer);
    expect(actual.length).toBe(expected.length);
    return Array.from(actual, (each, at) => each - elementAt(expected, at));
  });
}

const engines = [
  ["ort", () => ortBackend()],
  ["tfjs, wasm", () => tfjsBackend({ engine: "wasm" })],
  ["gpu.js, webasm", () => gpujsBackend({ mode: "webasm" })],
] as const;

describe.each(engines)("quantised networks on %s", { timeout: everyFault ? 600_000 : 120_000 }, (engine, backend) => {
  const names = everyFault ? [...small, ...others] : small;
  it("are available", ({ skip }) => {
    skip(!existsSync(folder), `there are no networks at ${folder}; set NNHAL_CORPUS to their folder`);
    expect(names.filter((name) => !existsSync(join(folder, `${name}.tflite`)))).toEqual([]);
  });

  it.each(existsSync(folder) ? names : [])("%s", async (name) => {
    const differences = await differencesOf(name, backend());
    expect(differences.length).toBeGreaterThan(0);
    const largest = Math.max(...differences.map(Math.abs));
    const mean = differences.reduce((total, each) => total + each, 0) / differences.length;
    const differing = differences.filter((each) => each !== 0).length;
    if (process.env.NNHAL_LIST_DIFFERENCES) {
      console.log(`| ${engine} | ${name} | ${differences.length} | ${differing} | ${largest} | ${mean.toFixed(4)} |`);
    }
    expect(largest).toBeLessThanOrEqual(1);
    expect(Math.abs(mean)).toBeLessThanOrEqual(0.1);
  });
});
