import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import type { Ort } from "../engine.ts";
import { operatorForms, productKinds } from "../forms.ts";
import { operatorTrials } from "./operators.ts";
import { checkEngine, probesOf } from "./probes.ts";
import { addProduct, productCases } from "./products.ts";
import { type AddTrial, runTrials } from "./trial.ts";

/** An engine whose sessions change their results, or refuse models. */
function engineWith(change: (data: Uint8Array | Float32Array) => void, refuses = (_: number) => false): Ort {
  const engine: Ort = Object.create(ort);
  const create = async (...args: Parameters<typeof ort.InferenceSession.create>) => {
    const session = await ort.InferenceSession.create(...args);
    if (refuses(session.outputNames.length)) throw new Error("no kernel for it");
    return {
      release: () => session.release(),
      async run(feeds: ort.InferenceSession.FeedsType) {
        const results = await session.run(feeds);
        for (const { data } of Object.values(results)) {
          if (data instanceof Uint8Array || data instanceof Float32Array) change(data);
        }
        return results;
      },
    };
  };
  Object.defineProperty(engine, "InferenceSession", { value: { create } });
  return engine;
}

const forms = [...productKinds.flatMap((kind) => [`u8s8 ${kind}`, `u8u8 ${kind}`]), ...Object.keys(operatorForms)];

describe("the self-check", () => {
  it("finds unsigned weights and all other operators right on this processor", async () => {
    const trials = productCases.map(
      (one): AddTrial =>
        (builder) =>
          addProduct(builder, one, "u8u8"),
    );
    expect(await runTrials(ort, [...trials, ...operatorTrials])).toEqual({});
    const { failures } = await checkEngine(ort);
    for (const kind of productKinds) expect(failures[`u8u8 ${kind}`]).toBeUndefined();
  });

  it("has all forms among those of its probes", () => {
    const known = probesOf(ort).flatMap((probe) => probe.forms);
    expect(known).toEqual(expect.arrayContaining(forms));
    expect(known).toHaveLength(forms.length + 1);
  });

  it("finds every form wrong on an engine whose results are off by two", async () => {
    const { failures } = await checkEngine(
      engineWith((data) => {
        for (let at = 0; at < data.length; at++) data[at] = (data[at] ?? 0) + ((data[at] ?? 0) < 128 ? 2 : -2);
      }),
    );
    expect(Object.keys(failures).sort()).toEqual(["u8s8 pair", ...forms].sort());
    expect(failures["u8s8 pair"]).toMatch(/^a kernel of 1x1 for 2 channels: expected \d+, got \d+$/);
  });

  it("allows that an engine rounds products otherwise", async () => {
    const products = (engine: Ort) =>
      runTrials(
        engine,
        productCases.map((one) => (builder) => addProduct(builder, one, "u8u8")),
      );
    const offBy = (steps: number) =>
      engineWith((data) => {
        for (let at = 0; at < data.length; at++) data[at] = Math.max(0, (data[at] ?? 0) - steps);
      });
    expect(await products(offBy(1))).toEqual({});
    expect(Object.keys(await products(offBy(2)))).toHaveLength(productKinds.length);
  });

  it("tries each operator by itself if the engine refuses them together", async () => {
    const refusing = engineWith(
      () => {},
      (outputs) => outputs > 1,
    );
    const { failures } = await checkEngine(refusing);
    expect(failures).toEqual((await checkEngine(ort)).failures);
    const { failures: all } = await checkEngine(
      engineWith(
        () => {},
        () => true,
      ),
    );
    expect(all["float sums"]).toBe("Conv: no kernel for it");
  });
});
