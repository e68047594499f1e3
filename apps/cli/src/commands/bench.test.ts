import { describe, expect, it } from "vitest";
import {
  addingModel,
  hybridModel,
  passingModel,
  quantise,
  referenceEngine,
  unknownOperatorModel,
  useFolder,
} from "../program.test-helper.ts";

const folder = useFolder();
const quick = ["--rounds", "2", "--peers", "none"];

describe("nnhal bench", () => {
  it("measures the device that works here, and reports it as a table", async () => {
    await folder.put("add.tflite", addingModel());
    const { stdout, stderr, exitCode } = await folder.run(["bench", "add.tflite", ...quick]);
    // On a slow machine there are lines about how far the work is.
    const note = "nnhal bench: note: no fast engine is installed, only the reference, which takes long\n";
    expect([stderr.replace(/^\d+% {2}.*\n/gm, ""), exitCode]).toEqual([note, 0]);
    expect(stdout).toMatch(/^machine {2}.*\nthreads {2}1\n/);
    expect(stdout).toMatch(/\n {17}min +median +p90 /);
    expect(stdout).toMatch(/\nnnhal-reference {2}1\.00 ms +1\.00 ms .* none\n/);
    expect(stdout).toMatch(/\n {17}prepare +from cache +first +memory +heap a run\nnnhal-reference {2}1\.00 ms .*\n$/);
  });

  it("says what adds a fast engine, if there is none and no device was named", async () => {
    await folder.put("add.tflite", addingModel());
    const absent = Object.assign(new Error("Cannot find package '@x/far'"), { code: "ERR_MODULE_NOT_FOUND" });
    const far = { device: "far", module: "@x/far", packages: "@x/far y", load: () => Promise.reject(absent) };
    const changed = { engines: [referenceEngine, far] };
    const args = ["bench", "add.tflite", "--peers", "none", "--preparations", "1", "--json"];
    const { stdout, stderr } = await folder.run([...args, "--rounds", "1"], changed);
    expect(stderr).toContain("which takes long; npm install @x/far y adds one\n");
    expect(JSON.parse(stdout)).toMatchObject({ rounds: 1, models: [{ rounds: 1 }] });
    const named = await folder.run([...args, "--device", "reference"], changed);
    expect(named.stderr).not.toContain("note");
    expect(JSON.parse(named.stdout)).toMatchObject({ rounds: null, models: [{ rounds: 20 }] });
  });

  it("compares with peers and through bursts, as JSON", async () => {
    await folder.put("add.tflite", addingModel());
    const args = ["--rounds", "2", "--peers", "tfjs", "--burst", "--device", "reference", "--json"];
    const { stdout, exitCode } = await folder.run(["bench", "add.tflite", ...args]);
    const report = JSON.parse(stdout);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ format: "nnhal-benchmark-1", threads: 1, rounds: 2, interrupted: false });
    // The peak of the machine says nothing about a network without products.
    expect(report.peaks).toEqual([]);
    const [{ contestants, ratios }] = report.models;
    expect(contestants.map((one: { name: string }) => one.name)).toEqual([
      "nnhal-reference",
      "nnhal-reference burst",
      "tfjs",
    ]);
    for (const one of contestants)
      expect(one).toMatchObject({ problem: null, agreement: { agrees: true, difference: 0 } });
    expect(contestants[0].roundTimes).toHaveLength(2);
    expect(ratios.map((one: { name: string; other: string }) => `${one.name} / ${one.other}`)).toEqual([
      "nnhal-reference / nnhal-reference burst",
      "nnhal-reference / tfjs",
      "nnhal-reference burst / tfjs",
    ]);
    for (const { ratio } of ratios) expect(ratio).toMatchObject({ median: 1, low: 1, high: 1 });
  });

  it("says what a peer cannot express, and measures the rest", async () => {
    await folder.put("pass.tflite", passingModel({ shape: [2], type: "UINT8", ...quantise(1, 0) }));
    const { stdout, exitCode } = await folder.run(["bench", "pass.tflite", "--rounds", "1", "--peers", "tfjs"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /\ntfjs {2}cannot: the graph in tfjs has RESHAPE on FLOAT32 only, and here it is on UINT8\n/,
    );
    expect(stdout).not.toContain("Ratios");
  });

  it("measures what the paths to engines cost, without a model", async () => {
    const { stdout, exitCode } = await folder.run([
      "bench",
      "--overhead",
      "--rounds",
      "1",
      "--peers",
      "tfjs",
      "--json",
    ]);
    expect(exitCode).toBe(0);
    const [{ model, multiplyAdds, contestants }] = JSON.parse(stdout).models;
    expect([model.split(/[/\\]/).at(-1), multiplyAdds]).toEqual(["one-element-add.tflite", 0]);
    expect(contestants.map((one: { name: string }) => one.name)).toEqual([
      "nnhal-reference",
      "nnhal-reference burst",
      "tfjs",
    ]);
    for (const one of contestants) expect(one).toMatchObject({ problem: null, agreement: { agrees: true } });
  });

  it("writes a page, which compares a network that has products with the peak of the machine", async () => {
    await folder.put("products.tflite", hybridModel());
    const { exitCode } = await folder.run([
      "bench",
      "products.tflite",
      "--hybrid",
      "widened",
      ...quick,
      "--html",
      "page.html",
    ]);
    expect(exitCode).toBe(0);
    const page = new TextDecoder().decode(await folder.get("page.html"));
    expect(page).toContain("<h1>products.tflite</h1>");
    expect(page).toMatch(/Peak<.*WebAssembly SIMD/);
  });

  it("wants a model, or something else to measure, and files before it measures any", async () => {
    const { stderr, exitCode } = await folder.run(["bench"]);
    expect([stderr, exitCode]).toEqual(["nnhal bench: name a model, or measure the overhead with --overhead\n", 2]);
    await folder.put("add.tflite", addingModel());
    const second = await folder.run(["bench", "add.tflite", "missing.tflite"]);
    expect(second).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("missing.tflite") });
    const third = await folder.run(["bench", "add.tflite", "--html", "gone/page.html"]);
    expect(third).toMatchObject({ exitCode: 2, stdout: "" });
    expect(third.stderr).toBe("nnhal bench: cannot write gone/page.html: there is no such folder\n");
  });

  it("prints what was measured when it is interrupted", async () => {
    await folder.put("add.tflite", addingModel());
    let interrupt = () => {};
    let time = 0;
    const { stdout, exitCode } = await folder.run(["bench", "add.tflite", "--rounds", "1000", "--peers", "none"], {
      onInterrupt(listener) {
        interrupt = listener;
        return () => {};
      },
      now: () => {
        if (++time === 5000) interrupt();
        return time;
      },
    });
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/\nnote {5}it was interrupted: these are the figures until then\n/);
    expect(stdout).toMatch(/\nnote {5}nnhal-reference on add\.tflite: \d+ of 1000 rounds\n/);
  });

  it.each([
    [["--peers", "caffe"], 2, /There is no peer "caffe"; there are: onnxruntime, litert, tfjs, or none/],
    [["--device", "nowhere"], 2, /there is no device "nowhere"/],
    [["--device", "reference,nnhal-reference"], 2, /the device nnhal-reference is listed twice/],
    [["--rounds", "0"], 2, /integer from 1 to 10000/],
    [["--threads", "0"], 2, /integer from 1 to 256/],
    [["--time-limit", "0"], 2, /number of seconds above 0/],
    [["--onnx", "missing.onnx"], 2, /cannot read the ONNX file missing\.onnx: the file does not exist/],
    [["--input", "missing.bin"], 2, /the model takes 2 inputs/],
    [["add.tflite", "--input", "a.bin"], 2, /--input, --input-shape, --part and --onnx belong to one model/],
  ])("refuses %j", async (args, code, message) => {
    await folder.put("add.tflite", addingModel());
    const { stderr, exitCode } = await folder.run(["bench", "add.tflite", ...args]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(code);
  });

  it("refuses a model that cannot run, with the reason", async () => {
    await folder.put("unknown.tflite", unknownOperatorModel());
    const { stderr, exitCode } = await folder.run(["bench", "unknown.tflite"]);
    expect(stderr).toMatch(/^nnhal bench: the model unknown\.tflite cannot be used: .*Frobnicate/);
    expect(exitCode).toBe(1);
  });
});
