/**
 * Runs in Chromium: pictures, cameras, sounds, texts, states, on the engines of the browser and of the machine.
 */
import { readFileSync } from "node:fs";
import { load, picture } from "@nnhal/network";
import { expect, it } from "vitest";
import {
  hostileNames,
  labelledModel,
  manyOperators,
  mediapipeModel,
  signedModel,
  statefulModel,
  textModel,
} from "../files.test-helper.ts";
import { demoFile, describePage, launch } from "../page.test-helper.ts";
import { numberText } from "../text.ts";

describePage("the part that runs", (opened) => {
  it("runs a picture on the engine of the browser and on a device of the machine, with the values of nnhal run", async () => {
    const { page, openFile, show } = opened();
    const model = await load(demoFile("digits-uint8.tflite"), { devices: "reference" });
    const { scores } = await model.run({ picture: await picture(demoFile("2-ballpoint.png")) });
    await model.close();
    const expected = [...(scores?.data ?? [])].map((value) => numberText(value, 4)).join("  ");
    await openFile(demoFile("digits-uint8.tflite"));
    await show("Run");
    await page.getByText("prepared on").waitFor();
    // The second is chosen while the model is prepared for the first.
    await page.getByLabel("run on").selectOption("wasm");
    await page.getByLabel("run on").selectOption("reference");
    await page.getByText("prepared on nnhal-reference").waitFor();
    for (const devices of ["wasm", "machine:nnhal-reference"]) {
      await page.getByLabel("run on").selectOption(devices);
      await page.getByText(`prepared on nnhal-${devices.replace(/.*-/, "")}`).waitFor();
      await page.getByLabel("A file for picture").setInputFiles(demoFile("2-ballpoint.png"));
      await page.locator(".numbers").waitFor();
      expect(await page.locator(".numbers").textContent(), devices).toBe(expected);
      expect(await page.locator(".found li").first().textContent()).toContain("class 2");
      // So that the same file can be chosen again.
      expect(await page.getByLabel("A file for picture").inputValue()).toBe("");
      const preview = page.getByAltText("The picture for picture");
      expect(await preview.evaluate((element) => Reflect.get(element, "naturalWidth"))).toBe(160);
    }
    // TensorFlow.js computes in floats.
    await page.getByLabel("run on").selectOption("tfjs");
    await page.getByText("prepared on nnhal-tfjs").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).last().click();
    await page.locator(".found li", { hasText: "class 2" }).first().waitFor();
    await page.getByLabel("run on").selectOption("gpujs");
    await page.getByText("prepared on nnhal-gpujs").waitFor();
    await page.getByText("this browser has no WebGPU: in WebAssembly").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).last().click();
    await page.locator(".found li", { hasText: "class 2" }).first().waitFor();
    await page.getByLabel("run on").selectOption("machine:nnhal-reference");
    await page.getByText("prepared on nnhal-reference").waitFor();
  });

  it("gives a picture that is dropped on it to the input that takes pictures, and shows the phases of the run", async () => {
    const { page, show, save } = opened();
    await show("Graph");
    const bytes = [...readFileSync(demoFile("2-ballpoint.png"))];
    const drop = (on: string) =>
      page.evaluate(
        ([selector, given]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([Uint8Array.from(given)], "a picture"));
          const event = new DragEvent("drop", { dataTransfer, cancelable: true, bubbles: true });
          document.querySelector(selector)?.dispatchEvent(event);
        },
        [on, bytes] as const,
      );
    await drop("main");
    await page.locator(".found li", { hasText: "class 2" }).first().waitFor();
    await page.getByText("now: a file").waitFor();
    await page.getByRole("button", { name: "Zeros" }).click();
    await page.getByText("now: zeros").waitFor();
    await drop('[data-input="picture"]');
    await page.getByText("now: a file").waitFor();
    // A picture is saved with its pixels.
    const { path, text } = await save("HTML");
    expect(text).not.toContain("blob:");
    const saved = await page.context().newPage();
    await saved.goto(`file://${path}`);
    const preview = saved.getByAltText("The picture for picture");
    expect(await preview.evaluate((element) => Reflect.get(element, "naturalWidth"))).toBe(160);
    await saved.close();
    await show("Why");
    const phases = page.getByRole("table", { name: "The last run" }).locator("tbody th");
    await phases.first().waitFor();
    expect(await phases.allTextContents()).toEqual([
      ...["read the inputs", "fit the picture"],
      ...["run the network", "read the outputs"],
    ]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save a timeline for Perfetto" }).click();
    const { traceEvents } = JSON.parse(readFileSync(await (await download).path(), "utf8"));
    expect(traceEvents.map(({ name }: { readonly name: string }) => name)).toContain("run the network");
    await show("Run");
  });

  it("reads a text by the tokeniser of a network, and runs MediaPipe's operators", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(put("text.tflite", textModel()));
    await show("Run");
    await page.getByLabel("run on").selectOption("auto");
    await page.getByLabel("A text for the network").fill("good, good; bad");
    await page.getByRole("button", { name: "Read the text" }).click();
    await page.locator(".numbers", { hasText: /^1 {2}2$/ }).waitFor();
    await openFile(put("mediapipe.tflite", mediapipeModel()));
    await show("Run");
    expect(await page.getByLabel("A text for the network").count()).toBe(0);
    await page.getByRole("button", { name: "Zeros" }).click();
    await page.getByText("values: 16, from 0 to 0").waitFor();
    await page.getByLabel("run on").selectOption("machine:nnhal-reference");
    await openFile(demoFile("digits-uint8.tflite"));
    await show("Run");
  });

  it("runs the pictures of a camera until it is stopped", async () => {
    const { page } = opened();
    await page.getByRole("button", { name: "Camera" }).click();
    await page.getByText("runs a second").waitFor();
    await page.getByText(/median .* of \d+/).waitFor();
    await page.getByRole("button", { name: "Stop the camera" }).click();
    await page.getByRole("button", { name: "Camera" }).waitFor();
    expect(await page.locator("video").count()).toBe(0);
    const refuse = (value: unknown) =>
      page.evaluate(
        (given) => Object.defineProperty(navigator, "mediaDevices", { value: given, configurable: true }),
        value,
      );
    await refuse(undefined);
    await page.getByRole("button", { name: "Camera" }).click();
    await page.getByRole("alert").filter({ hasText: "the camera cannot be used: browsers permit it only" }).waitFor();
    await page.evaluate(() => Reflect.deleteProperty(navigator, "mediaDevices"));
  });

  it("hears a microphone, in a shape that is chosen", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(put("sound.tflite", manyOperators(1, [1, 8])));
    await show("Run");
    await page.getByText("prepared on").waitFor();
    await page.getByText("shape", { exact: true }).click();
    await page.getByLabel("The shape of").fill("1, 0");
    await page.getByRole("button", { name: "Set the shape" }).click();
    await page.getByText("expected whole numbers from 1 on, got 1, 0").waitFor();
    await page.getByLabel("The shape of").fill("1 × 4000");
    await page.getByRole("button", { name: "Set the shape" }).click();
    await page.getByRole("button", { name: "Microphone" }).click();
    await page.getByText("runs a second").waitFor();
    // The squares of what the browser's device plays, which is silent between its tones.
    await page.getByText(/values: 4,000, from [\d.e-]+ to [\d.e-]*[1-9]/).waitFor();
    await page.getByRole("button", { name: "Stop the microphone" }).click();
    await page.getByRole("img", { name: /Values of .* in their order/ }).waitFor();
  });

  it("steps a state, shows it, and sets it back", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(put("state.tflite", statefulModel()));
    await show("Run");
    // The device of the machine lacks the operator; the network is prepared where it is placed next.
    await page.getByRole("alert").waitFor();
    await page.getByLabel("run on").selectOption("auto");
    await page.getByLabel("The numbers of in").fill("1 2 3 4");
    await page.getByRole("button", { name: "Give" }).click();
    await page.getByText("1 step since the start").waitFor();
    const state = page.locator("details", { hasText: /^state/ }).locator(".numbers");
    const first = await state.textContent();
    await page.getByRole("button", { name: "Run 10 steps" }).click();
    await page.getByText("11 steps since the start").waitFor();
    expect(await state.textContent()).not.toBe(first);
    await page.getByRole("button", { name: "Set the state back" }).click();
    await page.getByText("0 steps since the start").waitFor();
    await page.getByRole("button", { name: "Give" }).click();
    await page.getByText("1 step since the start").waitFor();
    expect(await state.textContent()).toBe(first);
  });

  it("runs the signature that is chosen", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(put("signed.tflite", signedModel()));
    await show("Run");
    const outputs: string[] = [];
    for (const signature of ["double", "square"]) {
      await page.getByLabel("signature").selectOption(signature);
      await page.getByLabel("The numbers of in").fill("1 2 3 4 5 6 7 8");
      await page.getByRole("button", { name: "Give" }).click();
      await page.locator(".numbers").waitFor();
      outputs.push((await page.locator(".numbers").textContent()) ?? "");
    }
    expect(outputs).toEqual(["2  4  6  8  10  12  14  16", "1  4  9  16  25  36  49  64"]);
  });

  it("shows hostile labels as text", async () => {
    const { page, put, openFile, show } = opened();
    await openFile(put("labels.tflite", labelledModel(hostileNames)));
    await show("Run");
    await page.getByText("prepared on").waitFor();
    for (const [place, label] of hostileNames.entries()) {
      await page
        .getByLabel("The numbers of x")
        .fill(hostileNames.map((_, at) => (at === place ? place + 1 : 0)).join(" "));
      await page.getByRole("button", { name: "Give" }).click();
      await page
        .locator(".found li", { hasText: new RegExp(`${2 * place + 2}$`) })
        .first()
        .waitFor();
      expect(await page.locator(".found li .name").first().textContent()).toBe(label);
    }
    expect(await page.locator("main img, main iframe, main script, main a, main object, main base").count()).toBe(0);
    expect(await page.evaluate(() => Reflect.get(globalThis, "hacked"))).toBeUndefined();
  });

  it("names classes by a file of labels that is chosen or dropped, or by a list", async () => {
    const { page, put, openFile, show } = opened();
    const putText = (name: string, text: string) => put(name, new TextEncoder().encode(text));
    const choose = (path: string) => page.getByLabel("A file with one label a line").setInputFiles(path);
    const choice = page.getByRole("combobox", { name: "labels" });
    const isChosen = (text: string) =>
      page.locator("[data-labels] option:checked", { hasText: text }).waitFor({ state: "attached" });
    const best = (label: string) => page.locator(".found li .name").first().filter({ hasText: label }).waitFor();
    await openFile(demoFile("digits-uint8.tflite"));
    await show("Run");
    await page.getByLabel("A file for picture").setInputFiles(demoFile("2-ballpoint.png"));
    await best("class 2");
    await isChosen("none: the network has none");
    await choose(putText("digits.txt", "zero one two three four five six seven eight nine".replaceAll(" ", "\r\n")));
    await best("two");
    await isChosen("digits.txt: 10 labels");
    await choose(putText("empty.txt", "\n"));
    await page.getByRole("alert").filter({ hasText: "empty.txt is empty" }).waitFor();
    await choose(demoFile("2-ballpoint.png"));
    await page.getByRole("alert").filter({ hasText: "2-ballpoint.png is a PNG picture, not a text" }).waitFor();
    // Those before stay.
    await best("two");
    await isChosen("digits.txt: 10 labels");
    await choose(putText("short.txt", "zero\none"));
    await page.getByText("short.txt has 2 labels, but the output has 10 classes.").waitFor();
    await best("class 2");
    const drop = (on: string, name: string, text: string) =>
      page.evaluate(
        ([selector, file, content]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([content], file));
          const event = new DragEvent("drop", { dataTransfer, cancelable: true, bubbles: true });
          document.querySelector(selector)?.dispatchEvent(event);
        },
        [on, name, text] as const,
      );
    const hostile = [...hostileNames.slice(0, 10)];
    await drop("main", "<img src=x onerror='globalThis.hacked=1'>.txt", hostile.join("\n"));
    await best(hostile[2] ?? "");
    await isChosen("<img src=x onerror='globalThis.hacked=1'>.txt: 10 labels");
    expect(await page.locator("main img:not(.preview), main iframe, main script, main a").count()).toBe(0);
    expect(await page.evaluate(() => Reflect.get(globalThis, "hacked"))).toBeUndefined();
    // Numbers are values of the input, but not on the choice of labels.
    await drop("[data-labels]", "numbers.txt", "0 1 2 3 4 5 6 7 8 9".replaceAll(" ", "\n"));
    await isChosen("numbers.txt: 10 labels");
    await best("2");
    await choice.selectOption("coco");
    await page.getByText("the list coco has 90 labels, but the output has 10 classes.").waitFor();
    await best("car");
    await choice.selectOption("");
    await best("class 2");
    await choose(putText("digits.txt", "zero\none\ntwo"));
    await best("two");
    await openFile(demoFile("digits-float.tflite"));
    await show("Run");
    await isChosen("none: the network has none");
  });

  it("computes on WebGPU where the browser has it", async (context) => {
    const { origin } = opened();
    const own = await launch("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader");
    try {
      const other = await own.newPage();
      await other.goto(origin);
      const hasAdapter = await other.evaluate(async () => (await navigator.gpu?.requestAdapter()) != null);
      if (!hasAdapter) return context.skip("this browser has no adapter, not even SwiftShader");
      const chosen = demoFile("digits-uint8.tflite");
      await other.setInputFiles(".head input[type=file]", chosen);
      await other.getByText("This network can run.").waitFor();
      await other.getByRole("button", { name: "Run", exact: true }).click();
      await other.getByLabel("run on").selectOption("gpujs");
      await other.getByText("prepared on nnhal-gpujs").waitFor();
      await other.getByText("on WebGPU: ").waitFor();
      const picture = demoFile("2-ballpoint.png");
      await other.getByLabel("A file for picture").setInputFiles(picture);
      expect(await other.locator(".found li").first().textContent()).toContain("class 2");
    } finally {
      await own.close();
    }
  });
});
