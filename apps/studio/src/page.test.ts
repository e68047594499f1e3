/**
 * The whole page in Chromium: its start, its policy, static hosting, and every part of it on several networks.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, extname, join } from "node:path";
import { corpusFolder, modelsFolder } from "@nnhal/test-kit/folders";
import { everyWay } from "@nnhal/test-kit/samples";
import { expect, it } from "vitest";
import { findBarriers } from "./access.test-helper.ts";
import { createEngine } from "./engine/engine.ts";
import { manyOperators } from "./files.test-helper.ts";
import { describePage } from "./page.test-helper.ts";
import { contentPolicy } from "./server/page-files.ts";
import { countText, numberText } from "./text.ts";

describePage("the page", (opened) => {
  it("opens the network of the demonstration, and takes the token out of the address", async () => {
    const { page } = opened();
    expect(await page.locator(".head .file").textContent()).toContain("digits-uint8.tflite");
    expect(new URL(page.url()).hash).toBe("");
    await page.reload();
    await page.getByText("This network can run.").waitFor();
  });

  it("says in another browser that the token was used, and works without the machine", async () => {
    const { page, origin } = opened();
    const context = await page.context().browser()?.newContext();
    const other = await context?.newPage();
    if (other === undefined) throw new Error("the browser has ended");
    await other.goto(`${origin}#token=abc`);
    await other.getByText("This network can run.").waitFor();
    await other
      .getByRole("alert")
      .filter({ hasText: "the token is wrong, or was used: start nnhal studio again" })
      .waitFor();
    expect(new URL(other.url()).hash).toBe("");
    await other.getByRole("button", { name: "Run", exact: true }).click();
    await other.getByText("prepared on nnhal-wasm").waitFor();
    expect(await other.getByLabel("run on").locator("option", { hasText: "machine" }).count()).toBe(0);
    await context?.close();
  });

  it("goes back and forward through its parts, and is left only from the first", async () => {
    const { page, show, chooseFile, put } = opened();
    const isShown = (name: string) => page.locator(`nav button[aria-current=page]`, { hasText: name }).waitFor();
    await show("Run");
    await show("Why");
    await page.goBack();
    await isShown("Run");
    await page.goBack();
    await isShown("Graph");
    await page.goForward();
    await isShown("Run");
    await chooseFile(put("diff.json", new TextEncoder().encode('{"operations": [], "verdict": "right"}')));
    await isShown("Report");
    await page.goBack();
    await isShown("Run");
    // The report is gone after a reload.
    await page.reload();
    await page.getByText("This network can run.").waitFor();
    await isShown("Graph");
    await page.goForward();
    await page.locator(".operators").waitFor();
    await isShown("Graph");
  });

  it("shows itself in a tour of five steps, and reads a digit that is drawn", async () => {
    const { page } = opened();
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

  it("forbids scripts that are not its own, and connections to elsewhere", async () => {
    const { page, origin } = opened();
    // A page of its own: what the browser says of it in its log is not a fault of the other.
    const other = await page.context().newPage();
    await other.goto(origin);
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

  it("works from static hosting in any folder, with and without the policy as a header", async () => {
    const { page, built } = opened();
    const root = built;
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
      expect(
        readdirSync(built, { recursive: true, encoding: "utf8" }).filter((path) => /(^|\/)[_.]/.test(path)),
      ).toEqual([]);
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
    ["2,000 operators", () => opened().put("many.tflite", manyOperators(2000))],
  ];

  // The others have tests of their own above; with all ways they are walked, too.
  const walked = everyWay ? networks : networks.filter(([name]) => /SSD|state|loops/.test(name));
  it.skipIf(!existsSync(modelsFolder) || !existsSync(corpusFolder)).each(walked)(
    "walks every panel on %s, with the values of the same run in Node.js",
    async (_name, pathOf) => {
      const { page, openFile, show } = opened();
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
      await show("Run");
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
      await show("Why");
      const count = file.subgraphs[0]?.operators.length ?? 0;
      // Twenty runs of thousands of operators, each measured, take seconds.
      const [ask, answer] =
        count < 1000 ? ["Measure each operation", "measured time"] : ["Which device", "expected time"];
      await page.getByRole("button", { name: ask }).click();
      await page.getByText(answer).waitFor();
      await show("Compare");
      await page.getByRole("heading", { name: "Two files" }).waitFor();
      if (count >= 1000) return;
      await page.getByLabel("Another .tflite file").setInputFiles(path);
      await page.getByText(`${countText(count)} stand for each other`).waitFor();
    },
  );

  it.skipIf(!existsSync(modelsFolder))(
    "shows all panels on MobileNet v2, light and dark, wide and narrow, without barriers",
    async () => {
      const { page, openFile, show } = opened();
      await openFile(join(modelsFolder, "mobilenet_v2_1.0_224_quant.tflite"));
      await page.getByText("66 operators").waitFor();
      const backgrounds = new Set<string>();
      const panels = ["Run", "Why", "Compare", "Graph"];
      await show("Why");
      await page.getByLabel("run on").selectOption("auto");
      await page.getByRole("button", { name: "Measure each operation" }).click();
      await page.getByText("measured time").waitFor();
      await show("Compare");
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
