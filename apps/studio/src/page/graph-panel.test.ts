/**
 * The graph in Chromium: large, hostile and broken files.
 */
import { picture } from "@nnhal/network";
import { expect, it } from "vitest";
import { hostileNames, manyNames, manyOperators, namedModel } from "../files.test-helper.ts";
import { describePage } from "../page.test-helper.ts";

describePage("the graph", (opened) => {
  it("shows a file of 2,000 operators, of which the keyboard reaches the last", async () => {
    const { page, put, openFile } = opened();
    await openFile(put("many.tflite", manyOperators(2000)));
    await page.getByText("2,000 operators").waitFor();
    await page.locator("canvas[data-drawn]").waitFor();
    expect(await page.locator(".operators li button").count()).toBeLessThan(100);
    await page.locator(".operators li button").first().focus();
    await page.keyboard.press("End");
    await page.locator('.operators li[aria-posinset="2000"][aria-setsize="2000"] button:focus').waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "ADD" }).waitFor();
    await page.locator("canvas").focus();
    await page.keyboard.press("ArrowUp");
    await page.locator(".details h2", { hasText: "number 1998" }).waitFor();
    await page.locator("label", { hasText: "show" }).locator("select").selectOption("groups: 251 boxes");
    await page.getByRole("heading", { name: "The file" }).waitFor();
    await page.locator("canvas").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.locator(".details h2", { hasText: "a group of 7 operators" }).waitFor();
    expect(await page.locator(".spoken").textContent()).toBe(
      "group 0, block_0, 7 operators. Before it: block_0/value_0. After it: block_1.",
    );
    await page.keyboard.press("Enter");
    await page.locator(".details h2", { hasText: "number 0" }).waitFor();
    await page.getByRole("button", { name: "fold block_0" }).click();
    await page.getByRole("button", { name: "Unfold the group" }).waitFor();
    // An operator that is chosen in the list opens the group that it is in.
    await page.locator(".operators li button").first().focus();
    await page.keyboard.press("Home");
    await page.locator('.operators li[aria-posinset="1"] button:focus').waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator('.operators li[aria-posinset="2"] button:focus').waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".details h2", { hasText: "number 1" }).waitFor();
    await page.getByRole("searchbox").fill("value_1778");
    await page.getByText("2 of 2,000 operators").waitFor();
  });

  it("shows why a file cannot run, and says what is not a file for it", async () => {
    const { page, put, chooseFile, openFile, show } = opened();
    await openFile(put("mystery.tflite", namedModel("Mystery")), "This network cannot run: one problem.");
    await chooseFile(put("picture.tflite", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10)));
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("this is not a .tflite file");
    await page.getByRole("button", { name: "close" }).click();
    await chooseFile(put("cut.tflite", manyOperators(100).subarray(0, 1000)));
    await page.getByRole("alert").filter({ hasText: "this is not a .tflite file" }).waitFor();
    expect(await page.locator(".head .file").textContent()).toContain("mystery.tflite");
    await show("Run");
    await page.getByText("This network cannot run: the graph shows why.").waitFor();
    await show("Why");
    await page.getByRole("heading", { name: "Memory of values" }).waitFor();
    await page.getByRole("button", { name: "Measure each operation" }).click();
    await page.getByRole("alert").filter({ hasText: "Mystery" }).waitFor();
  });

  it("opens files that are dropped on it, and shows the last", async () => {
    const { page } = opened();
    const files = [manyOperators(500), manyOperators(3)].map((bytes) => [...bytes]);
    await page.evaluate((given) => {
      for (const bytes of given) {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(bytes)], `dropped-${bytes.length}.tflite`));
        dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
      }
    }, files);
    await page.locator(".head .file", { hasText: `dropped-${files[1]?.length}.tflite` }).waitFor();
    await page.getByText("This network can run.").waitFor();
    expect(await page.locator(".operators li button").count()).toBe(3);
  });

  it("says that a folder cannot be read", async () => {
    const { page } = opened();
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      const file = new File([], "a folder");
      // A folder that is dropped is a file that cannot be read.
      const fail = () => Promise.reject(new DOMException("it could not be found", "NotFoundError"));
      Object.defineProperty(file, "arrayBuffer", { value: fail });
      Object.defineProperty(dataTransfer, "files", { value: [file] });
      dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
    });
    await page.getByRole("alert").filter({ hasText: "it could not be found" }).waitFor();
  });

  it("shows hostile names as text", async () => {
    const { page, put, openFile } = opened();
    const title = await page.title();
    await openFile(put("hostile.tflite", manyNames(hostileNames)), "This network cannot run");
    const facts = await page.locator(".details").textContent();
    const buttons = page.locator(".operators li button");
    for (const [place, name] of hostileNames.entries()) {
      expect(facts).toContain(name);
      await buttons.nth(place).click();
      const heading = page.locator(".details h2", { hasText: `number ${place}` });
      expect(await heading.evaluate((element) => element.firstChild?.textContent)).toBe(name);
    }
    expect(await page.locator("main img, main iframe, main script, main a, main object, main base").count()).toBe(0);
    expect(await page.title()).toBe(title);
    expect(await page.evaluate(() => Reflect.get(globalThis, "hacked"))).toBeUndefined();
  });

  it("saves all of a graph as lines and texts", async () => {
    const { put, openFile, save } = opened();
    await openFile(put("few.tflite", manyOperators(3)));
    const { text } = await save("SVG");
    expect(text).toMatch(/^<svg .*few\.tflite main.*elementwise and others.*MUL.*float32 1×8/s);
    expect((await picture((await save("PNG")).bytes)).width).toBe(1440);
  });
});
