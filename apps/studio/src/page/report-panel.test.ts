/**
 * Reports in Chromium, and what the page saves.
 */
import { picture } from "@nnhal/network";
import { expect, it } from "vitest";
import { findBarriers } from "../access.test-helper.ts";
import { describePage } from "../page.test-helper.ts";

describePage("the part for reports", (opened) => {
  it("opens a report, and saves what it shows", async () => {
    const { page, put, chooseFile, save } = opened();
    const subjects = { "<img src=x onerror='globalThis.hacked=1'>": { passed: 3, failed: 0 } };
    const suites = [{ suite: "memory\u0001", passed: 3, failed: 0, subjects }];
    const json = JSON.stringify({ device: "a device", passed: 3, failed: 0, suites });
    await chooseFile(put("conformance.json", new TextEncoder().encode(json)));
    await page.getByRole("heading", { name: "Conformance of a device" }).waitFor();
    await page.getByText("Nothing has failed.").waitFor();
    expect((await save("HTML")).text).toMatch(/^<!doctype html>.*Nothing has failed\..*&lt;img src=x/s);
    const { text: svg, path } = await save("SVG");
    expect(svg).toContain("\ufffd");
    const { bytes } = await save("PNG");
    const { width, height, data } = await picture(bytes);
    expect(width).toBe(1440);
    expect(new Set(data).size).toBeGreaterThan(20);
    // Both can be opened, and have the texts of the page.
    const other = await page.context().newPage();
    await other.goto(`file://${path}`);
    await other.getByText("Nothing has failed.").waitFor();
    expect(height).toBeGreaterThan(300);
    await other.close();
  });

  /** As long as names of fused operators, and of files, are. */
  const long = `${"MobilenetV1/Conv2d_0/BatchNorm_Fold;".repeat(9)}bias`;
  const path = `/home/${"a".repeat(60)}/model.tflite`;
  const error = { largest: 2, largestReal: 0.5, differing: 3, signalToNoise: 20, worst: null };
  const reports: Readonly<Record<string, object>> = {
    conformance: {
      device: long,
      ...{ passed: 1, failed: 1 },
      suites: [
        {
          suite: "memory",
          passed: 1,
          failed: 1,
          subjects: { [long]: { passed: 1 } },
          failures: [{ name: long, message: long }],
        },
      ],
    },
    bench: {
      format: "nnhal-benchmark-3",
      models: [{ model: path, contestants: [{ name: "nnhal-wasm", times: { median: 1 } }] }],
    },
    explain: {
      ...{ model: path, steps: [{ device: long, operations: [0] }] },
      operations: [
        { operation: "CONV_2D", device: "nnhal-wasm", reason: long, outputs: [{ type: "FLOAT32", shape: [1] }] },
      ],
    },
    diff: {
      ...{ model: path, against: [path], verdict: `The ratio of the outputs against ${path} is 24 dB.`, isRight: true },
      outputs: [{ name: long, difference: error }],
      operations: [
        {
          operation: "CONV_2D",
          device: "nnhal-wasm",
          verdict: "right",
          outputs: [{ name: long, alone: error, accumulated: error }],
        },
      ],
    },
  };

  it.each(Object.entries(reports))(
    "shows all columns of %s, light and dark, wide and narrow, without barriers",
    async (name, json) => {
      const { page, put, chooseFile } = opened();
      await chooseFile(put(`${name}.json`, new TextEncoder().encode(JSON.stringify(json))));
      await page.locator("main small", { hasText: `${name}.json` }).waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [1440, 390]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 844 });
          const hidden = await page.evaluate(() =>
            [document.documentElement, ...document.querySelectorAll(".card, .card .scroll, .card > *")].flatMap(
              ({ scrollWidth, clientWidth, outerHTML }) => (scrollWidth > clientWidth ? [outerHTML.slice(0, 80)] : []),
            ),
          );
          expect(hidden, `${colorScheme} at ${width}`).toEqual([]);
          expect(await page.evaluate(findBarriers), `${colorScheme} at ${width}`).toEqual([]);
        }
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    },
  );
});
