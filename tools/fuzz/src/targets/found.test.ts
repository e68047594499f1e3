import { describe, expect, it } from "vitest";
import { readCases } from "../cases.ts";
import { corpusOf, targets } from "./index.ts";

describe.each(targets)("the target $name", (target) => {
  const found = readCases("found", target.name);
  const corpus = readCases("corpus", corpusOf(target));

  it("has a corpus of small inputs with different names", () => {
    expect(corpus.length).toBeGreaterThan(1);
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
    for (const { name, bytes } of corpus) expect([name, bytes.length <= target.longest]).toEqual([name, true]);
  });

  it("passes what it found before, and the start of its corpus", async () => {
    const trial = await target.open();
    const failed: string[] = [];
    for (const { name, says, bytes } of [...found, ...corpus.slice(0, 12)]) {
      try {
        await trial.run(bytes);
      } catch (error) {
        failed.push(`${name} (${says ?? "corpus"}): ${String(error)}`);
      }
    }
    await trial.close();
    expect(failed).toEqual([]);
  });
});
