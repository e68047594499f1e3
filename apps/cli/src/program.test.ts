import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { addingModel, passingModel, useFolder } from "./program.test-helper.ts";

const { run, put, path } = useFolder();

describe("nnhal", () => {
  it("explains itself without arguments and with --help", async () => {
    const { stdout, stderr, exitCode } = await run(["--help"]);
    expect(stdout).toMatch(/^Usage: nnhal \[options\] \[command\]$/m);
    for (const command of ["demo", "run", "devices", "vectors"])
      expect(stdout).toMatch(new RegExp(`^ {2}${command} `, "m"));
    expect(stdout).toMatch(
      /^Exit codes:\n {2}0 {2}done\n {2}1 {2}the model cannot run.*\n {2}2 {2}the command line is wrong/m,
    );
    expect(stdout).toMatch(/^ {2}nnhal run model\.tflite --input picture\.png --labels labels\.txt$/m);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(await run([])).toEqual({ stdout, stderr, exitCode });
  });

  it.each(["demo", "run", "devices", "vectors"])("explains %s, with examples", async (command) => {
    const { stdout, exitCode } = await run([command, "--help"]);
    expect(stdout).toMatch(new RegExp(`^Usage: nnhal ${command} `));
    expect(stdout).toMatch(new RegExp(`^Examples:\n {2}nnhal ${command}`, "m"));
    expect(stdout).toMatch(/^ {2}--backend <module> /m);
    expect(exitCode).toBe(0);
    expect((await run(["help", command])).stdout).toBe(stdout);
  });

  it("names the options of run", async () => {
    const { stdout } = await run(["run", "--help"]);
    const options = [
      "input <file>",
      "labels <file>",
      "top <k>",
      "device <names>",
      "output-dir <dir>",
      "runs <n>",
      "json",
    ];
    for (const option of [...options, "random <seed>", "mean <numbers>", "std <numbers>"]) {
      expect(stdout).toContain(`  --${option} `);
    }
  });

  it("prints its version", async () => {
    expect(await run(["--version"])).toEqual({ stdout: "1.2.3\n", stderr: "", exitCode: 0 });
    expect(await run(["-v"])).toEqual({ stdout: "1.2.3\n", stderr: "", exitCode: 0 });
  });

  it("refuses what it does not know in one line, with the exit code 2", async () => {
    const refuse = (stderr: string) => ({ stdout: "", stderr: `${stderr}\n`, exitCode: 2 });
    expect(await run(["frobnicate"])).toEqual(refuse("nnhal: unknown command 'frobnicate'; see nnhal --help"));
    expect(await run(["--frob"])).toEqual(refuse("nnhal: unknown option '--frob'; see nnhal --help"));
    expect(await run(["devices", "--jso"])).toEqual(
      refuse("nnhal devices: unknown option '--jso' (Did you mean --json?); see nnhal devices --help"),
    );
  });

  it("tells a mistake of its own from a user's", async () => {
    const broken = {
      stdout: {
        write: () => {
          throw new Error("first line\nsecond line");
        },
      },
    };
    const { stderr, exitCode } = await run(["devices"], broken);
    expect(stderr).toBe("nnhal devices: unexpected problem: first line second line; --debug shows where\n");
    expect(exitCode).toBe(1);
    expect((await run(["devices", "--debug"], broken)).stderr).toMatch(/\n {4}at .*program\.test/);
  });
});

const fakeBackend = (name: string, open: string) => `
  export const backend = { name: "${name}", deviceType: 4, async open() { ${open} } };
`;
const session = `
  const half = { execTime: 0.5, powerUsage: 0.5 };
  return {
    version: "7", close: async () => {},
    capabilities: {
      relaxedFloat32toFloat16PerformanceScalar: half, relaxedFloat32toFloat16PerformanceTensor: half,
      operandPerformance: [], ifPerformance: half, whilePerformance: half,
    },
    supports: ({ definition }) => ({ supported: false, reason: definition.name + ": not on this chip" }),
    compile: async () => { throw new Error("nothing was supported"); },
  };
`;

describe("--backend", () => {
  it("adds the device of a module before those that are known", async () => {
    await put("chip.mjs", fakeBackend("chip", session));
    const { stdout, exitCode } = await run(["devices", "--json", "--backend", "./chip.mjs"]);
    expect(JSON.parse(stdout).devices[0]).toEqual({
      name: "nnhal-chip",
      type: "ACCELERATOR",
      ...{ halVersion: "aidl4", featureLevel: 1_000_008 },
      version: "7",
      status: "AVAILABLE",
      power: null,
    });
    expect(JSON.parse(stdout).devices).toHaveLength(2);
    expect(exitCode).toBe(0);
    expect((await run(["--backend", path("chip.mjs"), "devices"])).stdout).toMatch(
      /^nnhal-chip +ACCELERATOR +aidl4 +7 +AVAILABLE +-$/m,
    );
  });

  it("runs on it if it is named, and elsewhere if it cannot", async () => {
    await put("chip.mjs", fakeBackend("chip", session));
    await put("model.tflite", passingModel({ shape: [1, 2] }));
    const args = ["run", "model.tflite", "--random", "1", "--json", "--backend", "chip.mjs"];
    expect(JSON.parse((await run(args)).stdout).device).toBe("nnhal-reference");
    const { stdout, stderr, exitCode } = await run([...args, "--device", "chip"]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
    expect(stderr).toMatch(
      /^nnhal run: the model model\.tflite cannot run: subgraphs\[0\]\.operators\[0\] \(RESHAPE version 1\): no device supports it\. nnhal-chip: RESHAPE: not on this chip\n$/,
    );
  });

  it("refuses a module that is none, with the exit code 2", async () => {
    await put("nothing.mjs", "export const other = 1;");
    await put("loud.mjs", fakeBackend("LOUD", session));
    await put("typeless.mjs", 'export const backend = { name: "x", deviceType: 9, open() {} };');
    await put("closed.mjs", 'export const backend = { name: "x", deviceType: 2 };');
    await put("wrong.mjs", "export const = 1;");
    await put("same-name.mjs", fakeBackend("reference", session));
    const lineFor = async (module: string) => {
      const { stdout, stderr, exitCode } = await run(["devices", "--backend", module]);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^nnhal devices: [^\n]+\n$/);
      return stderr;
    };
    expect(await lineFor("./gone.mjs")).toContain("cannot load the backend ./gone.mjs: ");
    // Without the file of this program that asked for it.
    expect(await lineFor("@nnhal/backend-that-is-missing")).toMatch(
      /cannot load the backend @nnhal\/backend-that-is-missing: Cannot find package '@nnhal\/backend-that-is-missing'\n$/,
    );
    expect(await lineFor("./nothing.mjs")).toContain("the module ./nothing.mjs exports no object called backend");
    expect(await lineFor("./loud.mjs")).toContain("whose name is not made of lower case letters and digits");
    expect(await lineFor("./typeless.mjs")).toContain("whose deviceType is none of 1, 2, 3, 4");
    expect(await lineFor("./closed.mjs")).toContain("without the method open");
    expect(await lineFor("./wrong.mjs")).toContain("cannot load the backend ./wrong.mjs: ");
    expect(await lineFor("./same-name.mjs")).toContain(
      "two devices are called nnhal-reference: those of ./same-name.mjs and @nnhal/backend-reference",
    );
  });
});

describe("a narrow terminal", () => {
  const longest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

  it.each([60, 80])("of %i columns holds the help of every command, and reports", async (columns) => {
    const outcome = { stdout: "", stderr: "" };
    const stdout = { columns, write: (text: string) => (outcome.stdout += text) };
    const stderr = { columns, write: (text: string) => (outcome.stderr += text) };
    const help = [
      "",
      "demo",
      "run",
      "bench",
      "batch",
      "explain",
      "info",
      "validate",
      "graph",
      "studio",
      "devices",
      "vectors",
    ];
    for (const name of [...help, "conformance", "completion"])
      await run([...name.split(" ").filter(Boolean), "--help"], { stdout });
    await put("adding.tflite", addingModel());
    for (const command of ["info", "explain", "validate"]) await run([command, "adding.tflite"], { stdout });
    await run(["run", "adding.tflite", "--random", "1", "--profile"], { stdout });
    await run(["run", "adding.tflite", "--random", "1", "--device", "toaster,or,another,device,of,this,list"], {
      stderr,
    });
    await run(["devices"], { stdout });
    expect(outcome.stdout.length).toBeGreaterThan(10_000);
    expect(longest(outcome.stdout)).toBeLessThanOrEqual(columns);
    expect(longest(outcome.stderr)).toBeLessThanOrEqual(columns);
  });
});

describe("help", () => {
  it("is shown without the packages that commands need: nothing that runs at the start imports them", () => {
    const visited = new Set<string>();
    const imported: string[] = [];
    const visit = (file: URL) => {
      if (visited.has(file.href)) return;
      visited.add(file.href);
      const text = readFileSync(file, "utf8");
      for (const [, specifier = ""] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from "([^"]+)";/gm)) {
        if (specifier.startsWith("./")) visit(new URL(specifier, file));
        else if (specifier === "#checkout") visit(new URL("checkout.ts", import.meta.url));
        else if (specifier === "@nnhal/program")
          visit(new URL("../../../packages/program/src/index.ts", import.meta.url));
        else imported.push(specifier);
      }
    };
    visit(new URL("main.ts", import.meta.url));
    expect([...visited].map((file) => basename(file))).toContain("program.ts");
    expect(imported).toContain("commander");
    // A package that is a part of the build is there.
    const { bundledIntoBuild } = manifest;
    const isThere = (name: string) => name.startsWith("node:") || ["commander", ...bundledIntoBuild].includes(name);
    expect(imported.filter((name) => !isThere(name))).toEqual([]);
  });
});

describe("packages that are found if they are installed", () => {
  // Loaded after the packages that they need were asked for (`loadPackage`, `needs`, `open.ts`).
  const guarded = ["commands/conformance.ts", "commands/vectors.ts", "bench/onnxruntime-peer.ts", "bench/tfjs-peer.ts"];

  it("are imported by no file that a command loads without asking for them", () => {
    const visited = new Set<string>();
    const imported: string[] = [];
    const visit = (file: URL) => {
      if (visited.has(file.href) || guarded.some((each) => file.href.endsWith(`/src/${each}`))) return;
      visited.add(file.href);
      const text = readFileSync(file, "utf8");
      for (const [, specifier = ""] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from "([^"]+)";/gm)) {
        if (specifier.startsWith(".")) visit(new URL(specifier, file));
        else if (manifest.foundIfInstalled.includes(specifier)) imported.push(`${basename(file.href)}: ${specifier}`);
      }
      for (const [, specifier = ""] of text.matchAll(/import\("(\.[^"]+)"\)/g)) visit(new URL(specifier, file));
    };
    visit(new URL("main.ts", import.meta.url));
    expect([...visited].map((file) => basename(file))).toEqual(expect.arrayContaining(["run-diff.ts", "ways.ts"]));
    expect(imported).toEqual([]);
  });
});
