import { describe, expect, it } from "vitest";
import { durationText, formatBenchmark, notesOf, peakText, verdictOf } from "./report-text.ts";
import { reportOf } from "./reports.test-helper.ts";

describe("formatBenchmark", () => {
  it("has tables of times and costs, what was not measured, and ratios", () => {
    const lines = formatBenchmark(reportOf()).split("\n");
    expect(lines).toContain("nnhal-one  2.00 ms  2.00 ms  2.00 ms  500       1.50   3.00 ms    2.00              none");
    expect(lines).toContain("nnhal-one  7.00 ms  no cache    9.00 ms  1000 bytes  10 bytes");
    expect(lines).toContain("tfjs  cannot: no CONV_2D");
    expect(lines).toContain("  nnhal-one / litert  0.50 (0.50 to 0.50)  0.50  2.0 times as fast");
  });

  it("prints no ratio if outputs differ, but by how much", () => {
    const text = formatBenchmark(reportOf({ wrong: true }));
    expect(text).toMatch(
      / {2}nnhal-one \/ litert {2}not printed: the outputs of litert are not those .* is 5, 1 from 4; /,
    );
    expect(text).toMatch(/\nlitert .* 1\.0e\+0 \(too much\)\n/);
  });
});

describe("notesOf", () => {
  const notesWith = (changed: object) => {
    const report = reportOf();
    const [model] = report.models;
    if (model === undefined) throw new Error("a report has a model");
    const contestants = model.contestants.map((one, place) => (place === 0 ? { ...one, ...changed } : one));
    return notesOf({ ...report, models: [{ ...model, contestants }] });
  };

  it("finds nothing to doubt in figures of a quiet machine", () => {
    expect(notesWith({ cores: 1 })).toEqual([
      "litert on add.tflite: it was told 1 thread, and kept 1.5 processors busy",
    ]);
  });

  it.each([
    [{ cores: 1.3 }, undefined],
    [{ cores: 1.31 }, "it was told 1 thread, and kept 1.3 processors busy"],
    [{ cores: 9, threads: null }, undefined],
    [{ cores: 0.85 }, undefined],
    [{ cores: 0.84 }, "it had only 84% of a processor; other programs disturb it"],
    [{ cores: 1, warmUp: { executions: 3, stable: false } }, "the times had not settled when the warm-up ended"],
    [{ cores: 1, roundTimes: [[1], [1]] }, "2 of 3 rounds"],
  ])("judges %j", (changed, note) => {
    const ours = notesWith(changed).filter((line) => line.startsWith("nnhal-one"));
    expect(ours).toEqual(note === undefined ? [] : [`nnhal-one on add.tflite: ${note}`]);
  });

  it("says that the machine was busy, and that the user ended the work", () => {
    const report = reportOf();
    const busy = notesOf({ ...report, machine: { ...report.machine, load: 1.1 }, interrupted: true, models: [] });
    expect(busy).toEqual([
      "it was interrupted: these are the figures until then",
      "the machine was busy before: load 1.1 on 2 processors",
    ]);
    expect(notesOf({ ...report, machine: { ...report.machine, load: 1 }, models: [] })).toEqual([]);
  });
});

it("says in words what a ratio means", () => {
  expect(verdictOf({ median: 0.5, low: 0.4, high: 0.6, ofMinima: 0.5 })).toBe("2.0 times as fast");
  expect(verdictOf({ median: 1.5, low: 1.2, high: 1.8, ofMinima: 1.5 })).toBe("takes 1.50 times as long");
  expect(verdictOf({ median: 0.9, low: 0.8, high: 1, ofMinima: 0.9 })).toBe("no clear difference");
  expect(verdictOf({ median: 1.1, low: 1, high: 1.2, ofMinima: 1.1 })).toBe("no clear difference");
});

it("writes short times in microseconds", () => {
  expect(durationText(0.0999)).toBe("99.9 us");
  expect(durationText(0.1)).toBe("0.10 ms");
});

it("says which peaks are not known", () => {
  const peak = { how: "loops", threads: 2 };
  expect(peakText({ ...peak, float: 12.345, integer: null })).toBe("12.3 GFLOP/s with 2 threads: loops");
  expect(peakText({ ...peak, float: null, integer: null })).toBe("not known with 2 threads: loops");
});
