/**
 * Two files side by side in Chromium.
 */
import { expect, it } from "vitest";
import { namedModel } from "../files.test-helper.ts";
import { demoFile, describePage } from "../page.test-helper.ts";

describePage("the part that compares", (opened) => {
  it("puts the quantised and the float form of a network side by side, with the error of each operator", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(demoFile("digits-uint8.tflite"));
    await show("Compare");
    const chooseOther = (path: string) => page.getByLabel("Another .tflite file").setInputFiles(path);
    await chooseOther(put("mystery.tflite", namedModel("Mystery")));
    await page.getByText("cannot be put side by side: mystery.tflite cannot run").waitFor();
    await chooseOther(demoFile("digits-float.tflite"));
    const rows = page.getByRole("table", { name: "Operators" }).locator("tbody tr");
    await rows.first().waitFor();
    expect(await page.getByRole("table", { name: "Sizes" }).locator("tbody tr").first().textContent()).toBe(
      "size14.2 kB43.2 kB",
    );
    await page.getByRole("button", { name: "Compare the results" }).click();
    await page.getByText("Keep").waitFor();
    expect(await page.getByRole("table", { name: "Outputs" }).locator("tbody tr").count()).toBe(1);
    expect(await rows.first().textContent()).toMatch(/^0 CONV_2D.*0 CONV_2D.*×161[\d.]+ steps[\d.]+ dB$/);
  });
});
