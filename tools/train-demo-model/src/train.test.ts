import { beforeAll, describe, expect, it } from "vitest";
import { calibrate } from "./calibrate.ts";
import { openEngine } from "./engine.ts";
import { INPUT_QUANTISATION } from "./input.ts";
import { exportLayers, hasWeights, PLAN } from "./network.ts";
import { createRandom } from "./random.ts";
import { drawSamples } from "./samples.ts";
import { type Progress, train } from "./train.ts";

describe("train", () => {
  beforeAll(openEngine);

  const weightsAfter = async (seed: number) => {
    const layers = await exportLayers(train(seed, [{ batches: 2, rate: 0.004, size: 8 }], () => {}));
    return layers.map(({ weights }) => weights);
  };

  it("gives the same weights for the same seed, and others for another", async () => {
    const first = await weightsAfter(1);
    expect(await weightsAfter(1)).toEqual(first);
    expect(await weightsAfter(2)).not.toEqual(first);
  });

  it("reports its progress and learns", () => {
    const reports: Progress[] = [];
    const stages = [
      { batches: 35, rate: 0.004, size: 32 },
      { batches: 5, rate: 0.001, size: 32 },
    ];
    train(3, stages, (progress) => reports.push(progress));
    expect(reports.map(({ batch, batches, rate }) => [batch, batches, rate])).toEqual([[40, 40, 0.001]]);
    // Knowing nothing costs ln 10 = 2.303, with which the smoothed loss begins.
    expect(reports[0].loss).toBeLessThan(2.27);
  }, 120_000);

  it("calibrates every layer; those without weights keep their input's quantisation", async () => {
    const network = train(1, [{ batches: 2, rate: 0.004, size: 8 }], () => {});
    const quantisations = await calibrate(network, drawSamples(createRandom(4), 20).pixels);
    expect(quantisations).toHaveLength(PLAN.length);
    for (const [index, plan] of PLAN.entries()) {
      const before = quantisations[index - 1] ?? INPUT_QUANTISATION;
      if (hasWeights(plan)) expect(quantisations[index]).not.toEqual(before);
      else expect(quantisations[index]).toEqual(before);
      // RELU6 gives 0 … 6, so the lowest byte is 0 and the highest at most 6.
      if (hasWeights(plan) && plan.kind !== "FULLY_CONNECTED") {
        expect(quantisations[index].zeroPoint).toBe(0);
        expect(quantisations[index].scale).toBeLessThanOrEqual(Math.fround(6 / 255));
      }
    }
    expect(quantisations.at(-1)?.zeroPoint).toBeGreaterThan(0);
  });
});
