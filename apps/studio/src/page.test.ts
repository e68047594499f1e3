/**
 * The page in Chromium: opened as a person does, with hostile files, and with the policy that forbids what they would do.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { load, picture } from "@nnhal/network";
import { corpusFolder, modelsFolder } from "@nnhal/test-kit/folders";
import { everyWay } from "@nnhal/test-kit/samples";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findBarriers } from "./access.test-helper.ts";
import { createEngine } from "./engine/engine.ts";
import {
  hostileNames,
  labelledModel,
  manyNames,
  manyOperators,
  mediapipeModel,
  namedModel,
  statefulModel,
  textModel,
} from "./files.test-helper.ts";
import { contentPolicy } from "./server/page-files.ts";
import { type StudioServer, serveStudio } from "./server.ts";
import { countText, numberText } from "./text.ts";

const executablePath = [process.env.NNHAL_CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);
const remedy =
  executablePath === undefined ? " (skipped: apt-get install chromium-headless-shell, or NNHAL_CHROMIUM)" : "";

const folder = mkdtempSync(join(tmpdir(), "nnhal-studio-page-"));
let browser: Browser;
let server: StudioServer;
let page: Page;
let faults: string[];

/** Writes a file to open. */
function put(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const chooseFile = (path: string) => page.setInputFiles(".head input[type=file]", path);

/** Opens a file, and waits until the page says what can become of it: the texts of the file before are there until then. */
async function openFile(path: string, verdict = "This network can run."): Promise<void> {
  await chooseFile(path);
  await page.locator(".head .file", { hasText: basename(path) }).waitFor();
  await page.locator(".details").getByText(verdict).waitFor();
}

/** Saves what is shown. */
async function save(form: "HTML" | "PNG" | "SVG") {
  await page.getByText("Save", { exact: true }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `as ${form}` }).click();
  const path = join(folder, (await download).suggestedFilename());
  await (await download).saveAs(path);
  const bytes = readFileSync(path);
  return { path, bytes, text: new TextDecoder().decode(bytes) };
}

const heading = () => page.locator(".head .file").textContent();

/** Milliseconds after which something has not come: machines may be busy. A wait ends once it is there. */
const WAIT = 60_000;

/** A camera that shows a test picture, and needs no permission. */
const flags = ["--no-sandbox", "--disable-gpu", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

describe.skipIf(executablePath === undefined)(`the page in a browser${remedy}`, { timeout: 4 * WAIT }, () => {
  beforeAll(async () => {
    const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));
    const outDir = join(folder, "page");
    await build({ configFile, build: { outDir, minify: false } });
    const device = await openDevice({ backend: referenceBackend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const devices = { list: async () => [{ name: "nnhal-reference" }], select: async () => [device] };
    server = await serveStudio({ port: 0, folder: outDir, devices });
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: flags });
    // The token works once: all pages of this context have the cookie.
    page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    page.setDefaultTimeout(WAIT);
    faults = [];
    // Pictures that were chosen are shown by addresses of the page itself.
    const origin = `http://127.0.0.1:${server.port}/`;
    const own = [origin, `blob:${origin}`, "data:,"];
    const strange = (url: string) => !own.some((start) => url.startsWith(start));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("request", (request) => strange(request.url()) && faults.push(`request of ${request.url()}`));
    page.on("dialog", (dialog) => {
      faults.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(server.url);
    await page.getByText("This network can run.").waitFor();
  });

  afterAll(async () => {
    await browser.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  beforeEach(() => {
    faults.length = 0;
  });

  afterEach(() => {
    expect(faults).toEqual([]);
  });

  it("opens the network of the demonstration, and takes the token out of the address", async () => {
    expect(await heading()).toContain("digits-uint8.tflite");
    expect(new URL(page.url()).hash).toBe("");
    await page.reload();
    await page.getByText("This network can run.").waitFor();
  });

  it("shows itself in a tour of five steps, and reads a digit that is drawn", async () => {
    await page.getByRole("button", { name: "Take the tour" }).click();
    const tour = page.getByRole("region", { name: "Tour" });
    await tour.getByText("1 of 5").waitFor();
    await tour.getByRole("button", { name: "Next" }).click();
    await page.getByRole("heading", { name: "CONV_2D" }).waitFor();
    await tour.getByRole("button", { name: "Next" }).click();
    const pad = page.getByLabel("A pad to draw a digit on with a pointer");
    await pad.scrollIntoViewIfNeeded();
    const { x = 0, y = 0, width = 0, height = 0 } = (await pad.boundingBox()) ?? {};
    await page.mouse.move(x + width / 2, y + height / 6);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + (height * 5) / 6, { steps: 5 });
    await page.mouse.up();
    await page.locator(".found li", { hasText: "class 1" }).first().waitFor();
    expect(await page.locator(".found li").first().textContent()).toContain("class 1");
    await tour.getByRole("button", { name: "Next" }).click();
    await page.getByText("measured time").waitFor();
    await tour.getByRole("button", { name: "Back" }).click();
    await tour.getByText("3 of 5").waitFor();
    await tour.getByRole("button", { name: "Next" }).click();
    await tour.getByRole("button", { name: "Next" }).click();
    await page.getByRole("heading", { name: "Two files" }).waitFor();
    await tour.getByRole("button", { name: "Done" }).click();
    await tour.waitFor({ state: "detached" });
  });

  it("shows a file of 2,000 operators, of which the keyboard reaches the last", async () => {
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
    await openFile(put("mystery.tflite", namedModel("Mystery")), "This network cannot run: one problem.");
    await chooseFile(put("picture.tflite", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10)));
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("this is not a .tflite file");
    await page.getByRole("button", { name: "close" }).click();
    await chooseFile(put("cut.tflite", manyOperators(100).subarray(0, 1000)));
    await page.getByRole("alert").filter({ hasText: "this is not a .tflite file" }).waitFor();
    expect(await heading()).toContain("mystery.tflite");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("This network cannot run: the graph shows why.").waitFor();
    await page.getByRole("button", { name: "Why" }).click();
    await page.getByRole("heading", { name: "Memory of values" }).waitFor();
    await page.getByRole("button", { name: "Measure each operation" }).click();
    await page.getByRole("alert").filter({ hasText: "Mystery" }).waitFor();
  });

  it("opens files that are dropped on it, and shows the last", async () => {
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

  it("shows hostile names as text", async () => {
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

  it("shows hostile labels as text", async () => {
    await openFile(put("labels.tflite", labelledModel(hostileNames)));
    await page.getByRole("button", { name: "Run", exact: true }).click();
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

  it("runs a picture on the engine of the browser and on a device of the machine, with the values of nnhal run", async () => {
    const demo = fileURLToPath(new URL("../../cli/demo/", import.meta.url));
    const model = await load(join(demo, "digits-uint8.tflite"), { devices: "reference" });
    const { scores } = await model.run({ picture: await picture(join(demo, "2-ballpoint.png")) });
    await model.close();
    const expected = [...(scores?.data ?? [])].map((value) => numberText(value, 4)).join("  ");
    await openFile(join(demo, "digits-uint8.tflite"));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("prepared on").waitFor();
    // The second is chosen while the model is prepared for the first.
    await page.getByLabel("run on").selectOption("wasm");
    await page.getByLabel("run on").selectOption("reference");
    await page.getByText("prepared on nnhal-reference").waitFor();
    for (const devices of ["wasm", "machine:nnhal-reference"]) {
      await page.getByLabel("run on").selectOption(devices);
      await page.getByText(`prepared on nnhal-${devices.replace(/.*-/, "")}`).waitFor();
      await page.getByLabel("A file for picture").setInputFiles(join(demo, "2-ballpoint.png"));
      await page.locator(".numbers").waitFor();
      expect(await page.locator(".numbers").textContent(), devices).toBe(expected);
      expect(await page.locator(".found li").first().textContent()).toContain("class 2");
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
    await page.getByRole("button", { name: "Graph", exact: true }).click();
    const bytes = [...readFileSync(fileURLToPath(new URL("../../cli/demo/2-ballpoint.png", import.meta.url)))];
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
    await page.getByRole("button", { name: "Why" }).click();
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
    await page.getByRole("button", { name: "Run", exact: true }).click();
  });

  it("reads a text by the tokeniser of a network, and runs MediaPipe's operators", async () => {
    await openFile(put("text.tflite", textModel()));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByLabel("run on").selectOption("auto");
    await page.getByLabel("A text for the network").fill("good, good; bad");
    await page.getByRole("button", { name: "Read the text" }).click();
    await page.locator(".numbers", { hasText: /^1 {2}2$/ }).waitFor();
    await openFile(put("mediapipe.tflite", mediapipeModel()));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect(await page.getByLabel("A text for the network").count()).toBe(0);
    await page.getByRole("button", { name: "Zeros" }).click();
    await page.getByText("values: 16, from 0 to 0").waitFor();
    await page.getByLabel("run on").selectOption("machine:nnhal-reference");
    await openFile(fileURLToPath(new URL("../../cli/demo/digits-uint8.tflite", import.meta.url)));
    await page.getByRole("button", { name: "Run", exact: true }).click();
  });

  it("runs the pictures of a camera until it is stopped", async () => {
    await page.getByRole("button", { name: "Camera" }).click();
    await page.getByText("runs a second").waitFor();
    await page.getByText(/median .* of \d+/).waitFor();
    await page.getByRole("button", { name: "Stop the camera" }).click();
    await page.getByRole("button", { name: "Camera" }).waitFor();
    expect(await page.locator("video").count()).toBe(0);
  });

  it("hears a microphone, in a shape that is chosen", async () => {
    await openFile(put("sound.tflite", manyOperators(1, [1, 8])));
    await page.getByRole("button", { name: "Run", exact: true }).click();
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
    await openFile(put("state.tflite", statefulModel()));
    await page.getByRole("button", { name: "Run", exact: true }).click();
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

  it("measures and compares each operation, and colors the graph by it", async () => {
    await openFile(fileURLToPath(new URL("../../cli/demo/digits-uint8.tflite", import.meta.url)));
    await page.getByRole("button", { name: "Why" }).click();
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
  });

  it("puts the quantised and the float form of a network side by side, with the error of each operator", async () => {
    const demo = fileURLToPath(new URL("../../cli/demo/", import.meta.url));
    await openFile(join(demo, "digits-uint8.tflite"));
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    const chooseOther = (path: string) => page.getByLabel("Another .tflite file").setInputFiles(path);
    await chooseOther(put("mystery.tflite", namedModel("Mystery")));
    await page.getByText("cannot be put side by side: mystery.tflite cannot run").waitFor();
    await chooseOther(join(demo, "digits-float.tflite"));
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

  it("opens a report, and saves what it shows", async () => {
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

  it("saves all of a graph as lines and texts", async () => {
    await openFile(put("few.tflite", manyOperators(3)));
    const { text } = await save("SVG");
    expect(text).toMatch(/^<svg .*few\.tflite main.*elementwise and others.*MUL.*float32 1×8/s);
    expect((await picture((await save("PNG")).bytes)).width).toBe(1440);
  });

  it("forbids scripts that are not its own, and connections to elsewhere", async () => {
    // A page of its own: what the browser says of it in its log is not a fault of the other.
    const other = await page.context().newPage();
    await other.goto(`http://127.0.0.1:${server.port}/`);
    const tried = await other.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.hacked = true";
      document.body.append(script);
      // Outside of what the tool evaluates, to which no policy applies.
      await new Promise((resolve) => setTimeout(resolve));
      const isEvaluated = (() => {
        try {
          return new Function("return true")();
        } catch {
          return false;
        }
      })();
      const isConnected = await fetch("http://127.0.0.1:1/").then(
        () => true,
        (error: unknown) => String(error),
      );
      return { isInline: Reflect.get(globalThis, "hacked") === true, isEvaluated, isConnected };
    });
    expect(tried).toEqual({ isInline: false, isEvaluated: false, isConnected: "TypeError: Failed to fetch" });
    await other.close();
  });

  it("computes on WebGPU where the browser has it", async (context) => {
    const flags = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
    const own = await chromium.launch({ executablePath: executablePath ?? "", args: flags });
    try {
      const other = await own.newPage();
      await other.goto(`http://127.0.0.1:${server.port}/`);
      const hasAdapter = await other.evaluate(async () => (await navigator.gpu?.requestAdapter()) != null);
      if (!hasAdapter) return context.skip("this browser has no adapter, not even SwiftShader");
      const chosen = fileURLToPath(new URL("../../cli/demo/digits-uint8.tflite", import.meta.url));
      await other.setInputFiles(".head input[type=file]", chosen);
      await other.getByText("This network can run.").waitFor();
      await other.getByRole("button", { name: "Run", exact: true }).click();
      await other.getByLabel("run on").selectOption("gpujs");
      await other.getByText("prepared on nnhal-gpujs").waitFor();
      await other.getByText("on WebGPU: ").waitFor();
      const picture = fileURLToPath(new URL("../../cli/demo/2-ballpoint.png", import.meta.url));
      await other.getByLabel("A file for picture").setInputFiles(picture);
      expect(await other.locator(".found li").first().textContent()).toContain("class 2");
    } finally {
      await own.close();
    }
  });

  it("works from static hosting in any folder, with and without the policy as a header", async () => {
    const root = join(folder, "page");
    const types: Readonly<Record<string, string>> = {
      ".html": "text/html",
      ".js": "text/javascript",
      ".css": "text/css",
    };
    let header: string | undefined;
    const host = createServer(({ url = "" }, response) => {
      const path = url === "/a/folder/" ? "index.html" : url.replace(/^\/a\/folder\//, "");
      const file = join(root, path);
      if (!existsSync(file)) return void response.writeHead(404).end();
      if (header !== undefined) response.setHeader("content-security-policy", header);
      response
        .writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" })
        .end(readFileSync(file));
    });
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    const { port } = Object(host.address());
    const other = await page.context().newPage();
    try {
      const licences = await (await fetch(`http://127.0.0.1:${port}/a/folder/THIRD-PARTY-LICENSES.txt`)).text();
      for (const name of ["preact", "@preact/signals-core", "comlink", "@tensorflow/tfjs-core", "gpu.js", "fflate"])
        expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n[^]*(MIT|Apache) Licen[cs]e`, "m"));
      for (const policy of [undefined, contentPolicy]) {
        header = policy;
        await other.goto(`http://127.0.0.1:${port}/a/folder/`);
        await other.getByText("This network can run.").waitFor();
        await other.getByRole("button", { name: "Run", exact: true }).click();
        const devices = other.getByLabel("run on");
        for (const device of ["gpujs", "wasm"]) {
          await devices.selectOption(device);
          await other.getByText(`prepared on nnhal-${device}`).waitFor();
        }
        expect(await devices.locator("option", { hasText: "machine" }).count()).toBe(0);
      }
    } finally {
      await other.close();
      await new Promise((resolve) => host.close(resolve));
    }
  });

  const networks: readonly (readonly [name: string, path: () => string])[] = [
    ["MobileNet v2", () => join(modelsFolder, "mobilenet_v2_1.0_224_quant.tflite")],
    ["SSD", () => join(corpusFolder, "tflite-support__coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite")],
    ["an LSTM with state", () => join(modelsFolder, "trained_lstm.tflite")],
    ["a network with loops", () => join(corpusFolder, "LiteRT__nested_while.tflite")],
    ["2,000 operators", () => put("many.tflite", manyOperators(2000))],
  ];

  // The others have tests of their own above; with all ways they are walked, too.
  const walked = everyWay ? networks : networks.filter(([name]) => /SSD|state|loops/.test(name));
  it.skipIf(!existsSync(modelsFolder) || !existsSync(corpusFolder)).each(walked)(
    "walks every panel on %s, with the values of the same run in Node.js",
    async (_name, pathOf) => {
      const path = pathOf();
      const engine = createEngine();
      const { file } = await engine.open(readFileSync(path), basename(path));
      await openFile(path);
      await page.locator(".operators li button").first().click();
      await page.locator(".details h2", { hasText: "number 0" }).waitFor();
      const choice = page.locator(".toolbar label", { hasText: "subgraph" }).locator("select");
      for (const [place, { operators }] of file.subgraphs.entries()) {
        if (file.subgraphs.length > 1) await choice.selectOption(String(place));
        await page
          .getByText(`${countText(operators.length)} operator`)
          .first()
          .waitFor();
      }
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByLabel("run on").selectOption("auto");
      await page.getByText("prepared on").waitFor();
      const placement = { devices: "wasm,reference", isOnMachine: false, signature: undefined, inputShapes: {} };
      const { inputs } = await engine.prepare(placement, () => {});
      const noise = { kind: "noise", seed: 1 } as const;
      const { outputs } = await engine.run(Object.fromEntries(inputs.map(({ name }) => [name, noise])));
      await engine.end();
      for (const [place] of inputs.entries()) await page.getByRole("button", { name: "Noise" }).nth(place).click();
      const shownOutputs = page.locator(".card").last().locator("details.tensor");
      await page
        .getByText(new RegExp(`median .* of ${inputs.length}$|^Outputs`))
        .first()
        .waitFor();
      for (const [place, { summary }] of outputs.entries()) {
        const start = summary.first.map((value) => numberText(value, 4)).join("  ");
        await shownOutputs.nth(place).locator(".numbers", { hasText: start }).waitFor();
      }
      await page.getByRole("button", { name: "Why" }).click();
      const count = file.subgraphs[0]?.operators.length ?? 0;
      // Twenty runs of thousands of operators, each measured, take seconds.
      const [ask, answer] =
        count < 1000 ? ["Measure each operation", "measured time"] : ["Which device", "expected time"];
      await page.getByRole("button", { name: ask }).click();
      await page.getByText(answer).waitFor();
      await page.getByRole("button", { name: "Compare", exact: true }).click();
      await page.getByRole("heading", { name: "Two files" }).waitFor();
      if (count >= 1000) return;
      await page.getByLabel("Another .tflite file").setInputFiles(path);
      await page.getByText(`${countText(count)} stand for each other`).waitFor();
    },
  );

  it.skipIf(!existsSync(modelsFolder))(
    "shows all panels on MobileNet v2, light and dark, wide and narrow, without barriers",
    async () => {
      await openFile(join(modelsFolder, "mobilenet_v2_1.0_224_quant.tflite"));
      await page.getByText("66 operators").waitFor();
      const backgrounds = new Set<string>();
      const panels = ["Run", "Why", "Compare", "Graph"];
      await page.getByRole("button", { name: "Why" }).click();
      await page.getByLabel("run on").selectOption("auto");
      await page.getByRole("button", { name: "Measure each operation" }).click();
      await page.getByText("measured time").waitFor();
      await page.getByRole("button", { name: "Compare", exact: true }).click();
      await page
        .getByLabel("Another .tflite file")
        .setInputFiles(join(modelsFolder, "mobilenet_v2_1.0_224_quant.tflite"));
      await page.getByText("66 stand for each other").waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [1440, 390]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 844 });
          for (const panel of panels) {
            await page.getByRole("button", { name: panel, exact: true }).first().click();
            const { overflow, background } = await page.evaluate(() => ({
              overflow: document.documentElement.scrollWidth - innerWidth,
              background: getComputedStyle(document.body).backgroundColor,
            }));
            const where = `${panel}, ${colorScheme} at ${width}`;
            expect(overflow, where).toBeLessThanOrEqual(0);
            expect(await page.evaluate(findBarriers), where).toEqual([]);
            backgrounds.add(background);
          }
        }
      }
      expect(backgrounds.size).toBe(2);
      // Barriers that are put there are found.
      await page.evaluate(() => {
        const [button, text] = [document.createElement("button"), document.createElement("p")];
        Object.assign(text, { textContent: "faint" });
        Object.assign(text.style, { color: "rgb(120, 120, 120)", backgroundColor: "rgb(128, 128, 128)" });
        document.body.append(button, text);
      });
      expect(await page.evaluate(findBarriers)).toEqual([
        expect.stringContaining("without a name: <button>"),
        expect.stringMatching(/^contrast 1\.\d+: rgb\(120, 120, 120\) on rgb\(128, 128, 128\)/),
      ]);
    },
  );
});
