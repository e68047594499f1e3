import { expect, it } from "vitest";
import { isSampled } from "./sample.ts";

const names = Array.from({ length: 32_000 }, (_, index) => `example ${index % 100} mutation: main operand ${index}`);
const sampleOf = (rate: number) => names.filter((name) => isSampled(name, rate));

it("a sample of one in one is everything", () => {
  expect(sampleOf(1)).toEqual(names);
});

it.each([2, 8, 32])("about one in %d is in the sample, wherever one looks", (rate) => {
  const expected = names.length / rate;
  expect(sampleOf(rate).length).toBeGreaterThan(expected * 0.8);
  expect(sampleOf(rate).length).toBeLessThan(expected * 1.2);
  const firstQuarter = names.slice(0, names.length / 4).filter((name) => isSampled(name, rate));
  expect(firstQuarter.length).toBeGreaterThan((expected / 4) * 0.7);
  const perDigit = Array.from({ length: 10 }, (_, digit) => sampleOf(rate).filter((name) => name.endsWith(`${digit}`)));
  expect(Math.min(...perDigit.map(({ length }) => length))).toBeGreaterThan((expected / 10) * 0.6);
});

it("a name is in the sample on every machine or on none", () => {
  expect(["a", "b", "c", "d", "e", "f"].map((name) => isSampled(name, 2))).toMatchInlineSnapshot(`
    [
      true,
      false,
      false,
      false,
      false,
      false,
    ]
  `);
});
