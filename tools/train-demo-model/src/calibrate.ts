/**
 * Chooses the quantisation of each layer's output from the values that the float network computes on calibration
 * pictures.
 */
import * as tf from "@tensorflow/tfjs-core";
import { model, type Sequential } from "@tensorflow/tfjs-layers";
import { INPUT_QUANTISATION } from "./input.ts";
import { hasWeights, PLAN, pictureTensor } from "./network.ts";
import { bestQuantisation, type Quantisation } from "./quantise.ts";

/** As many values of one layer as are looked at. */
const MOST_VALUES = 200_000;

/** Evenly spaced elements, at most a given number of them. */
function thin(values: Float32Array, most: number): Float32Array {
  const step = Math.ceil(values.length / most);
  return values.filter((_, index) => index % step === 0);
}

/** The quantisation of each layer's output, in the order of PLAN. Layers without weights keep that of their input. */
export async function calibrate(network: Sequential, pixels: Uint8Array): Promise<Quantisation[]> {
  const outputs = network.layers.filter((_, index) => hasWeights(PLAN[index])).flatMap((layer) => layer.output);
  const probe = model({ inputs: network.inputs, outputs });
  const values = tf.tidy(() => [probe.predictOnBatch(pictureTensor(pixels))].flat());
  const result: Quantisation[] = [];
  for (const plan of PLAN) {
    const measured = hasWeights(plan) ? values.shift() : undefined;
    if (measured) result.push(bestQuantisation(thin(await measured.data<"float32">(), MOST_VALUES)));
    else result.push(result.at(-1) ?? INPUT_QUANTISATION);
    measured?.dispose();
  }
  return result;
}
