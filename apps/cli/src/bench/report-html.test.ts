import { describe, expect, it } from "vitest";
import { benchmarkPage } from "./report-html.ts";
import { reportOf } from "./reports.test-helper.ts";

const day = new Date("2026-11-20T12:00:00Z");

describe("the page of a benchmark", () => {
  const html = benchmarkPage(reportOf(), day);

  it("needs nothing from elsewhere", () => {
    expect(html).not.toMatch(/<script|<link|<img|src=|url\(|@import|https?:/);
    expect(html.startsWith("<!doctype html>")).toBe(true);
    expect(html).toContain("2026-11-20");
  });

  it("has charts of times, rounds and ratios, with texts for those who do not see them", () => {
    const titles = [...html.matchAll(/<svg class="chart" role="img"[^>]*><title>([^<]*)/g)].map((match) => match[1]);
    expect(titles).toEqual(["Time of a run", "Median of each round", "Ratios of times"]);
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("has the figures, the settings, and what was not measured", () => {
    expect(html).toContain("2.00 ms");
    expect(html).toContain("A bar ends at the least time");
    expect(html).toContain("0.50 (0.50 to 0.50)");
    expect(html).toContain("2.0 times as fast");
    expect(html).toContain("litert: LiteRT.js 2; one thread");
    expect(html).toContain("tfjs: cannot: no CONV_2D");
  });

  it("escapes what comes from files and engines", () => {
    const { models, ...others } = reportOf();
    const [model] = models;
    const evil = benchmarkPage({ ...others, models: model ? [{ ...model, model: "<b>&.tflite" }] : [] }, day);
    expect(evil).toContain("&lt;b&gt;&amp;.tflite");
    expect(evil).not.toContain("<b>&");
  });

  it("says why there is no ratio", () => {
    const refused = benchmarkPage(reportOf({ wrong: true }), day);
    expect(refused).not.toContain("<title>Ratios of times");
    expect(refused).toContain("no ratio, since the outputs of litert are not those of the reference");
  });

  it("is a page even if nothing was measured", () => {
    const empty = benchmarkPage(reportOf({ nothing: true }), day);
    expect(empty).toContain("Nothing was measured.");
    expect(empty).not.toMatch(/<svg|NaN/);
  });
});
