/** Trains the network. Every batch is newly drawn, so there is no training set to memorise. */
import * as tf from "@tensorflow/tfjs-core";
import type { Sequential } from "@tensorflow/tfjs-layers";
import { LABELS } from "./glyphs.ts";
import { buildNetwork, pictureTensor } from "./network.ts";
import { createRandom, mix32 } from "./random.ts";
import { drawSamples, type Samples } from "./samples.ts";

/** A number of batches at one learning rate. */
export interface Stage {
  batches: number;
  rate: number;
  /** Number of pictures in a batch. Default: 64. */
  size?: number;
}

export const STAGES: readonly Stage[] = [
  { batches: 1500, rate: 0.004 },
  { batches: 900, rate: 0.001 },
  { batches: 600, rate: 0.0003 },
];

export interface Progress {
  batch: number;
  batches: number;
  rate: number;
  /** Cross-entropy, smoothed over the last batches. */
  loss: number;
}

const BATCH_SIZE = 64;
const REPORT_EVERY = 150;

function crossEntropy(network: Sequential, { pixels, digits }: Samples): tf.Scalar {
  const wanted = tf.oneHot(tf.tensor1d(digits, "int32"), LABELS.length);
  const [output] = [network.apply(pictureTensor(pixels), { training: true })].flat();
  if (!(output instanceof tf.Tensor)) throw new TypeError("The network's output is not a tensor");
  return tf.reshape(tf.losses.softmaxCrossEntropy(wanted, output), []);
}

/** Equal seeds and stages lead to equal weights. */
export function train(seed: number, stages: readonly Stage[], report: (progress: Progress) => void): Sequential {
  const random = createRandom(seed);
  const network = buildNetwork(mix32(seed) >>> 8);
  const batches = stages.reduce((sum, stage) => sum + stage.batches, 0);
  let batch = 0;
  let loss = Math.log(LABELS.length);
  for (const { batches: stageBatches, rate, size = BATCH_SIZE } of stages) {
    const optimizer = tf.train.adam(rate);
    for (let index = 0; index < stageBatches; index++) {
      const samples = drawSamples(random, size);
      const cost = optimizer.minimize(() => crossEntropy(network, samples), true);
      loss += ((cost?.dataSync()[0] ?? 0) - loss) * 0.03;
      cost?.dispose();
      batch++;
      if (batch % REPORT_EVERY === 0 || batch === batches) report({ batch, batches, rate, loss });
    }
    optimizer.dispose();
  }
  return network;
}
