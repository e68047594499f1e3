/**
 * Runs a .tflite file that classifies pictures, through the whole stack: importer, runtime, driver core and the
 * reference backend.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite, readTflite } from "@nnhal/tflite";
import { OperandType } from "@nnhal/types";
import { LABELS } from "./glyphs.ts";
import { normalise } from "./input.ts";

export interface Classifier {
  /** The probability of each label, for a picture of the network's input size. */
  classify(pixels: Uint8Array): Promise<number[]>;
  close(): void;
}

/** Accepts a file whose input and output are both float32 or both uint8, as this tool writes them. */
export async function openClassifier(file: Uint8Array): Promise<Classifier> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(`The reference backend did not open: ${device.unavailable}`);
  const { model } = importTflite(readTflite(file));
  const compilation = new Compilation(Model.from(model), [device]);
  await compilation.finish();
  const { operands, outputIndexes } = model.main;
  const output = operands[outputIndexes[0]];
  const isFloat = output.type === OperandType.TENSOR_FLOAT32;
  return {
    async classify(pixels) {
      const execution = new Execution(compilation);
      const probabilities = isFloat ? new Float32Array(LABELS.length) : new Uint8Array(LABELS.length);
      execution.setInput(0, isFloat ? normalise(pixels) : pixels);
      execution.setOutput(0, probabilities);
      await execution.compute();
      return Array.from(probabilities, (value) => (isFloat ? value : (value - output.zeroPoint) * output.scale));
    },
    close: () => compilation.close(),
  };
}
