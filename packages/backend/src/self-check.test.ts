import { describe, expect, it } from "vitest";
import type { Processor } from "./processor.ts";
import {
  checkForms,
  choiceRefusal,
  chooseForm,
  type FormFailures,
  type OutcomeStore,
  type Probe,
  type SelfCheck,
  versionSuffix,
} from "./self-check.ts";

type Form = "fast" | "exact" | "other";
const processor: Processor = { name: "Model X (x64)", identity: "Model X (x64) sse avx" };

/** A probe that counts its runs. */
function probe(forms: readonly Form[], failures: FormFailures, isWitness = false) {
  const counted = {
    runs: 0,
    forms,
    isWitness,
    run: () => {
      counted.runs++;
      return failures;
    },
  };
  return counted;
}

function memoryStore(kept = new Map<string, FormFailures>()) {
  const store: OutcomeStore = {
    read: async (key) => kept.get(key),
    write: async (key, failures) => void kept.set(key, failures),
  };
  return { kept, store };
}

const check = (probes: readonly Probe<Form>[], outcomes?: OutcomeStore, engine = "engine 1") =>
  checkForms({ engine, processor, probes, outcomes });

describe("a self-check", () => {
  it("has the failures of all probes", async () => {
    expect(await check([probe(["fast"], { fast: "expected 2, got 1" }), probe(["exact", "other"], {})])).toEqual({
      processor: "Model X (x64)",
      failures: { fast: "expected 2, got 1" },
    });
  });

  it("fails all forms of a probe that throws, and runs the others", async () => {
    const throwing: Probe<Form> = {
      forms: ["fast", "other"],
      run: () => Promise.reject(new Error("no session")),
    };
    expect((await check([throwing, probe(["exact"], {})])).failures).toEqual({
      fast: "no session",
      other: "no session",
    });
  });

  it("ignores failures of forms that are not those of the probe", async () => {
    expect((await check([probe(["fast"], { exact: "wrong" })])).failures).toEqual({});
  });
});

describe("an outcome that is kept", () => {
  it("is used instead of the probes", async () => {
    const { kept, store } = memoryStore();
    const first = probe(["fast"], { fast: "wrong" });
    const outcome = await check([first], store);
    expect([...kept.keys()]).toEqual(["engine 1 on Model X (x64) sse avx"]);
    expect(await check([first], store)).toEqual(outcome);
    expect(first.runs).toBe(1);
  });

  it.each([
    ["engine", "engine 2", processor],
    ["features", "engine 1", { ...processor, identity: "Model X (x64) sse" }],
    ["model", "engine 1", { name: "Y", identity: "Y sse avx" }],
  ] as const)("is not used for another %s", async (_, engine, other) => {
    const { store } = memoryStore();
    await check([probe(["fast"], {})], store);
    const again = probe(["fast"], { fast: "wrong" });
    const { failures } = await checkForms({ engine, processor: other, probes: [again], outcomes: store });
    expect(failures).toEqual({ fast: "wrong" });
    expect(again.runs).toBe(1);
  });

  it("is not used or kept for a processor whose features are unknown", async () => {
    const { kept, store } = memoryStore();
    const one = probe(["fast"], {});
    for (let times = 0; times < 2; times++) {
      await checkForms({ engine: "engine 1", processor: { name: "Z" }, probes: [one], outcomes: store });
    }
    expect([one.runs, kept.size]).toEqual([2, 0]);
  });

  it("is not used if a witness finds something else", async () => {
    const { store } = memoryStore();
    await check([probe(["fast"], {}, true), probe(["exact"], {})], store);
    const same = [probe(["fast"], {}, true), probe(["exact"], {})] as const;
    await check(same, store);
    expect(same.map(({ runs }) => runs)).toEqual([1, 0]);
    const other = [probe(["fast"], { fast: "wrong" }, true), probe(["exact"], { exact: "wrong too" })] as const;
    expect((await check(other, store)).failures).toEqual({ fast: "wrong", exact: "wrong too" });
    expect(other.map(({ runs }) => runs)).toEqual([1, 1]);
  });

  it("is not trusted: what is not a form or not a text is dropped", async () => {
    const forged = JSON.parse('{"fast":1,"exact":"wrong","more":"wrong"}');
    const { store } = memoryStore(new Map([["engine 1 on Model X (x64) sse avx", forged]]));
    expect((await check([probe(["fast", "exact"], {})], store)).failures).toEqual({ exact: "wrong" });
  });

  it("is not needed: a store that rejects counts as an empty one", async () => {
    const store: OutcomeStore = {
      read: () => Promise.reject(new Error("unreadable")),
      write: () => Promise.reject(new Error("unwritable")),
    };
    expect((await check([probe(["fast"], { fast: "wrong" })], store)).failures).toEqual({ fast: "wrong" });
  });
});

describe("a choice", () => {
  const find = (failures: FormFailures<Form>): SelfCheck<Form> => ({ processor: "Model X (x64)", failures });
  const choose = (failures: FormFailures<Form>) => chooseForm("8-bit sums", ["fast", "exact"], find(failures));

  it("is the preferred form if it holds", () => {
    expect(choose({ exact: "wrong" })).toEqual({ subject: "8-bit sums", chosen: "fast" });
  });

  it("is the next form that holds, and says why", () => {
    expect(choose({ fast: "expected 250, got 126" })).toEqual({
      subject: "8-bit sums",
      chosen: "exact",
      reason: "on the processor Model X (x64), fast is wrong: expected 250, got 126",
    });
  });

  it("is a refusal that names the processor if no form holds", () => {
    const choice = choose({ fast: "got 126", exact: "got 1" });
    expect(choice.chosen).toBeUndefined();
    expect(choiceRefusal(choice)).toBe(
      "8-bit sums are not available: on the processor Model X (x64), fast is wrong: got 126; exact is wrong: got 1",
    );
    expect(choiceRefusal(choose({}))).toBeUndefined();
  });

  it("is part of the version, whatever the order of the choices and the values that were found", () => {
    const one = choose({ fast: "got 126" });
    const other = chooseForm("float sums", ["other", "exact"], find({ other: "wrong" }));
    expect(versionSuffix([choose({})])).toBe("");
    expect(versionSuffix([one])).toMatch(/^ forms-[0-9a-f]{8}$/);
    expect(versionSuffix([one])).toBe(
      versionSuffix([choose({ fast: "got 125" }), chooseForm("x", ["other"], find({}))]),
    );
    expect(versionSuffix([one, other])).toBe(versionSuffix([other, one]));
    const suffixes = [[one], [other], [one, other], [choose({ fast: "a", exact: "b" })], []].map(versionSuffix);
    expect(new Set(suffixes).size).toBe(5);
  });
});
