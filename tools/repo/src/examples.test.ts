/**
 * The programs of examples/ run as they stand, on the demo's network, or on a small one of the kind that they need. What trained networks
 * find is proven in packages/network.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { fromSource } from "@nnhal/test-kit/from-source";
import { type TfliteOperator, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { build } from "esbuild";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { workspaceRoot } from "./workspace.ts";

const examples = join(workspaceRoot, "examples");
const demo = join(workspaceRoot, "apps/cli/demo");
const digits = join(demo, "digits-uint8.tflite");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-examples-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = async (file: string, ...args: string[]) => {
  const options = { cwd: folder, timeout: 150_000 };
  return promisify(execFile)(process.execPath, [...fromSource, join(examples, file), ...args], options);
};
const isPng = (file: string) => readFileSync(file).subarray(1, 4).toString() === "PNG";

/** An output of a network that returns it for every picture. */
interface Fixed {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** A network that finds the same in every picture of 32 x 32. */
function fixedModel(...outputs: readonly Fixed[]): Uint8Array {
  const bytes = (array: ArrayBufferView) => new Uint8Array(array.buffer);
  const tensor = (name: string, shape: readonly number[], more: Partial<TfliteTensor> = {}): TfliteTensor => ({
    name,
    type: "FLOAT32",
    shape,
    isVariable: false,
    ...more,
  });
  const int32 = (values: readonly number[]) => ({ type: "INT32", data: bytes(Int32Array.from(values)) }) as const;
  const tensors = [
    tensor("image", [1, 32, 32, 3]),
    tensor("begin", [4], int32([0, 0, 0, 0])),
    tensor("size", [4], int32([1, 1, 1, 1])),
    tensor("first", [1, 1, 1, 1]),
    tensor("shape", [1], int32([1])),
    tensor("flat", [1]),
    tensor("nothing", [1], { data: bytes(Float32Array.of(0)) }),
    tensor("zero", [1]),
    ...outputs.flatMap(({ name, shape, values }) => [
      tensor(`${name} as stored`, shape, { data: bytes(Float32Array.from(values)) }),
      tensor(name, shape),
    ]),
  ];
  const operator = (name: string, inputs: number[], output: number, options: TfliteOperator["options"] = {}) => {
    return { name, version: 1, inputs, outputs: [output], options };
  };
  const plainly = { fusedActivationFunction: "NONE" };
  const madeAt = (index: number) => 9 + 2 * index;
  const operators = [
    operator("SLICE", [0, 1, 2], 3),
    operator("RESHAPE", [3, 4], 5, { newShape: [1] }),
    operator("MUL", [5, 6], 7, plainly),
    ...outputs.map((_, index) => operator("ADD", [madeAt(index) - 1, 7], madeAt(index), plainly)),
  ];
  const main = { name: "main", tensors, inputs: [0], outputs: outputs.map((_, index) => madeAt(index)), operators };
  return writeTflite({ version: 3, description: "", subgraphs: [main], metadata: [], signatures: [] });
}

describe("the examples", { timeout: 180_000 }, () => {
  it("are all run here", () => {
    const files = readdirSync(examples, { withFileTypes: true }).map(({ name }) => name);
    const own = files.filter((name) => name.endsWith(".mjs")).sort();
    expect(own).toEqual(
      ["batch", "classify", "detect", "pose", "segment", "server", "worker-pool"].map((name) => `${name}.mjs`),
    );
    const readme = readFileSync(join(examples, "README.md"), "utf8");
    for (const name of [...own, "web"]) expect(readme).toContain(`[${name}](${name})`);
  });

  it("classify.mjs says what is in a picture", async () => {
    const { stdout } = await run("classify.mjs", digits, join(demo, "3-chalk.png"));
    expect(stdout.split("\n")[0]).toMatch(/^ *\d+\.\d % {2}3$/);
  });

  it("detect.mjs finds things, and draws their boxes", async () => {
    const boxes = { name: "boxes", shape: [1, 2, 4], values: [0.1, 0.2, 0.5, 0.75, 0, 0, 1, 1] };
    const classes = { name: "classes", shape: [1, 2], values: [16, 3] };
    const scores = { name: "scores", shape: [1, 2], values: [0.9, 0.4] };
    writeFileSync(join(folder, "detect.tflite"), fixedModel(boxes, classes, scores));
    const { stdout } = await run("detect.mjs", "detect.tflite", join(demo, "3-chalk.png"), "found.png");
    // Of a picture of 160 x 160; the other thing is not likely enough.
    expect(stdout).toBe("16: 90 % at 32, 16, 120, 80\n");
    expect(isPng(join(folder, "found.png"))).toBe(true);
  });

  it("segment.mjs says which parts a picture has, and marks them", async () => {
    const classes = { name: "classes", shape: [1, 2, 2], values: [0, 0, 0, 8] };
    writeFileSync(join(folder, "segment.tflite"), fixedModel(classes));
    const { stdout } = await run("segment.mjs", "segment.tflite", join(demo, "3-chalk.png"), "mask.png");
    expect(stdout).toBe("background: 75 %\ncat: 25 %\n");
    expect(isPng(join(folder, "mask.png"))).toBe(true);
  });

  it("pose.mjs finds the parts of a body, and draws them", async () => {
    // The landmark k is at k, 2k percent of the picture.
    const values = Array.from({ length: 17 }, (_, index) => [index / 50, index / 100, 0.9]).flat();
    writeFileSync(join(folder, "pose.tflite"), fixedModel({ name: "keypoints", shape: [1, 1, 17, 3], values }));
    const { stdout } = await run("pose.mjs", "pose.tflite", join(demo, "3-chalk.png"), "pose.png");
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(17);
    // Of a picture of 160 x 160.
    expect(lines[0]).toBe("nose: 0, 0 (90 %)");
    expect(lines[10]).toBe("right wrist: 16, 32 (90 %)");
    expect(isPng(join(folder, "pose.png"))).toBe(true);
  });

  it("batch.mjs writes a table, and goes on after a broken file", async () => {
    const pictures = mkdtempSync(join(folder, "pictures-"));
    for (const name of ["3-chalk.png", "8-marker.png"]) copyFileSync(join(demo, name), join(pictures, name));
    const { stdout } = await run("batch.mjs", digits, pictures);
    expect(stdout).toMatch(/^file,index,label,score\n"3-chalk\.png",3,"",0\.\d{4}\n"8-marker\.png",8,"",0\.\d{4}\n$/);
    writeFileSync(join(pictures, "5.png"), "text");
    const failed = await run("batch.mjs", digits, pictures).catch((error) => error);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/^5\.png: .*is not a PNG/) });
    expect(failed.stdout).toBe(stdout);
  });

  it("web/main.js shows the classes of a picture that is chosen, bundled with the defaults of esbuild", async () => {
    const outfile = join(folder, "page.mjs");
    const entryPoints = [join(examples, "web/main.js")];
    await build({
      entryPoints,
      bundle: true,
      format: "esm",
      platform: "browser",
      conditions: ["@nnhal/source"],
      outfile,
    });
    const input = Object.assign(new EventTarget(), {
      disabled: true,
      files: [new Blob([readFileSync(join(demo, "3-chalk.png"))])],
    });
    const output = { textContent: "" };
    // Parts of a browser: the page, a server, and a decoder.
    vi.stubGlobal("document", { querySelector: (name: string) => (name === "input" ? input : output) });
    vi.stubGlobal("fetch", async (address: string) => {
      expect(address).toBe("model.tflite");
      return new Response(readFileSync(digits));
    });
    vi.stubGlobal("createImageBitmap", async (blob: Blob) => PNG.sync.read(Buffer.from(await blob.arrayBuffer())));
    vi.stubGlobal(
      "OffscreenCanvas",
      class {
        drawn: unknown;
        getContext = () => ({
          drawImage: (image: unknown) => {
            this.drawn = image;
          },
          getImageData: () => this.drawn,
        });
      },
    );
    try {
      await import(pathToFileURL(outfile).href);
      expect(input.disabled).toBe(false);
      input.dispatchEvent(new Event("change"));
      await vi.waitFor(() => expect(output.textContent).toMatch(/^3: \d+\.\d %, /), { timeout: 20_000 });
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("server.mjs answers, also to what is not a picture", async () => {
    const server: ChildProcess = spawn(process.execPath, [...fromSource, join(examples, "server.mjs"), digits, "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const { stdout } = server;
      if (stdout === null) throw new Error("the server has no output");
      const [line] = await once(stdout, "data");
      const origin = /http:\S+/.exec(String(line))?.[0];
      const post = async (body: Uint8Array) => {
        const response = await fetch(`${origin}/classify?top=1`, { method: "POST", body: new Uint8Array(body) });
        return { status: response.status, answer: await response.json() };
      };
      expect(await post(readFileSync(join(demo, "3-chalk.png")))).toMatchObject({
        status: 200,
        answer: [{ index: 3 }],
      });
      expect(await post(Uint8Array.of(1, 2, 3))).toMatchObject({
        status: 400,
        answer: { error: expect.stringContaining("is not a PNG") },
      });
      server.kill("SIGTERM");
      expect((await once(server, "exit"))[0]).toBe(0);
    } finally {
      server.kill("SIGKILL");
    }
  });

  it("worker-pool.mjs reads all digits", async () => {
    const { stdout } = await run("worker-pool.mjs", digits, demo, "2");
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).toMatch(/^(\d)-\w+\.png: \1$/);
  });
});
