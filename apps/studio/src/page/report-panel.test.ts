/**
 * Reports in Chromium, and what the page saves.
 */
import { picture } from "@nnhal/network";
import { expect, it } from "vitest";
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
});
