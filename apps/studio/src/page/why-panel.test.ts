/**
 * Explanations in Chromium: the plan, times and errors of operations.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { manyOperators } from "../files.test-helper.ts";
import { demoFile, describePage } from "../page.test-helper.ts";

describePage("the part that explains", (opened) => {
  it("measures and compares each operation, and colors the graph by it", async () => {
    const { page, openFile, show } = opened();
    await openFile(demoFile("digits-uint8.tflite"));
    await show("Why");
    await page.getByLabel("run on").selectOption("wasm");
    await page.getByRole("button", { name: "Measure each operation" }).click();
    await page.getByText("measured time").waitFor();
    await page.getByRole("button", { name: "Compare each operation with" }).click();
    await page.locator(".verdict.passed").waitFor();
    const parts = page.getByRole("table", { name: "Parts" }).locator("tbody tr");
    expect(await parts.allTextContents()).toEqual([
      expect.stringMatching(/^1nnhal-wasm103.07 kB10 bytes[\d.]+ .s[\d.]+ .s$/),
    ]);
    expect(await page.getByRole("table", { name: "Operations" }).locator("tbody tr").count()).toBe(10);
    await page.getByRole("button", { name: "by error" }).click();
    await page.locator(".legend", { hasText: "equal" }).waitFor();
    await show("Why");
    await page
      .locator("dt", { hasText: "compared with" })
      .locator("+ dd", { hasText: /^nnhal-reference$/ })
      .waitFor();
  });

  it("compares two devices of the browser, or of the machine, on the picture of the run", async () => {
    const { page, openFile, show } = opened();
    await openFile(demoFile("digits-float.tflite"));
    await show("Run");
    await page.getByLabel("A file for picture").setInputFiles(demoFile("2-ballpoint.png"));
    await page.locator(".found li", { hasText: "class 2" }).first().waitFor();
    await show("Why");
    const judges = page.getByLabel("The judge");
    const compareOn = async (device: string, judge: string) => {
      await page.getByLabel("run on").selectOption(device);
      await judges.selectOption(judge);
      await page.getByRole("button", { name: "Compare each operation with" }).click();
      await page.locator(".verdict.passed").waitFor();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save the comparison" }).click();
      return JSON.parse(readFileSync(await (await download).path(), "utf8"));
    };
    const ofBrowser = await compareOn("wasm", "tfjs");
    expect(ofBrowser).toMatchObject({ devices: ["nnhal-wasm"], against: ["nnhal-tfjs"], inputs: ["inputs 1"] });
    const [worst] = ofBrowser.operations[1].outputs;
    const row = page.getByRole("table", { name: "Operations" }).locator("tbody tr").nth(1);
    expect(worst.alone.largest).toBeGreaterThan(0);
    await row
      .locator("td[data-label='worst element']", { hasText: `element ${worst.alone.worst.element}: ` })
      .waitFor();
    await page.getByLabel("run on").selectOption("machine:nnhal-wasm");
    // One whose driver has ended does not judge.
    expect(await judges.locator("option").allTextContents()).toEqual(["nnhal-reference"]);
    const ofMachine = await compareOn("machine:nnhal-reference", "nnhal-wasm");
    expect(ofMachine).toMatchObject({ devices: ["nnhal-reference"], against: ["nnhal-wasm"], inputs: ["inputs 1"] });
  });

  it("stops a comparison that takes long", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(put("many.tflite", manyOperators(1000)));
    await show("Why");
    await page.getByLabel("run on").selectOption("wasm");
    await page.getByRole("button", { name: "Compare each operation with" }).click();
    await page.locator(".work", { hasText: "comparing operation" }).getByRole("button", { name: "stop" }).click();
    await page.getByRole("alert").filter({ hasText: "the comparison was stopped" }).waitFor();
    await page.getByRole("button", { name: "Which device computes what" }).click();
    await page.getByText("expected time").waitFor();
    expect(await page.getByText("compared with", { exact: true }).count()).toBe(0);
  });
});
