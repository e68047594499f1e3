/**
 * The examples of the READMEs run as they stand.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { examplesOf, runExample, runExamples } from "@nnhal/test-kit/run-example";
import { describe, expect, it } from "vitest";
import { programsIn } from "./document-examples.ts";
import { readWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "../../..");

const readmes = [
  "README.md",
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
].filter((path) => existsSync(join(root, path)));

/** Files as users have them: the demo's network and a picture take their place. */
const files = {
  '"node_modules/@nnhal/cli/demo/digits-uint8.tflite"': "digits-uint8.tflite",
  '"mobilenet.tflite"': "digits-uint8.tflite",
  '"mobilenet_float.tflite"': "digits-float.tflite",
  '"selfie_segmentation.tflite"': "digits-uint8.tflite",
  '"cat.jpg"': "3-chalk.png",
};

/** An example with files that there are. */
function withFiles(example: string): string {
  return Object.entries(files).reduce(
    (text, [name, file]) => text.replaceAll(name, JSON.stringify(join(root, "apps/cli/demo", file))),
    example,
  );
}

describe("documents", () => {
  const folders = ["docs", "docs/decisions"];
  const documents = [
    ...readmes,
    "CONTRIBUTING.md",
    "apps/cli/README.md",
    ...folders.flatMap((folder) =>
      readdirSync(join(root, folder)).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : [])),
    ),
  ];

  it.each(documents)("%s: its links lead to files", (path) => {
    const text = readFileSync(join(root, path), "utf8");
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const relative = targets.filter((target) => !/^([a-z]+:|#)/.test(target));
    const dead = relative.filter((target) => !existsSync(join(root, path, "..", target.replace(/#.*/, ""))));
    expect(dead).toEqual([]);
  });
});

describe.concurrent("READMEs", () => {
  it("say in the first ten lines what to install, also for the greatest speed", () => {
    const start = readFileSync(join(root, "README.md"), "utf8").split("\n").slice(0, 10).join("\n");
    expect(start).toContain("`npm install nnhal`");
    expect(start).toContain("`npm install @nnhal/backend-ort onnxruntime-node`");
  });

  it("exist for the whole and for every package", () => {
    const folders = readdirSync(join(root, "packages"));
    // Folders of packages that are gone may have builds in them.
    const packages = folders.filter((name) => existsSync(join(root, "packages", name, "package.json")));
    expect(readmes).toHaveLength(packages.length + 1);
  });

  it("of packages that users import have an example in TypeScript, and those of commands one for a shell", () => {
    for (const { folder, manifest } of readWorkspace(root).filter(({ manifest }) => manifest.private !== true)) {
      const text = readFileSync(join(root, folder, "README.md"), "utf8");
      expect(text, folder).toMatch(manifest.bin === undefined ? /^```ts\n/m : /^```\n(\$ )?(npx|npm|nnhal) /m);
    }
  });

  it("of packages have examples that run", { timeout: 240_000 }, async () => {
    const paths = readmes.filter((path) => path !== "README.md");
    const examples = paths.flatMap((path) => examplesOf(path).map((code) => ({ path, code })));
    expect(examples.length).toBeGreaterThan(20);
    const outputs = await runExamples(
      examples.map(({ code }) => withFiles(code)),
      root,
    );
    const errors = examples.map(({ path }, index) => ({ path, stderr: outputs[index]?.stderr }));
    expect(errors.filter(({ stderr }) => stderr !== "")).toEqual([]);
  });

  it("docs/extensions.md: its examples are one program, which prints what they say", { timeout: 60_000 }, async () => {
    const code = examplesOf("docs/extensions.md").join("\n");
    const { stdout, stderr } = await runExample(code, root);
    expect(stderr).toBe("");
    const said = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    expect(said).toHaveLength(3);
    expect(stdout).toBe(`${said.join("\n")}\n`);
  });

  it.each(["docs/runtime.md", "docs/network.md", "docs/diff.md"])(
    "%s: each of its examples prints what it says",
    { timeout: 120_000 },
    async (path) => {
      const codes = examplesOf(path);
      const outputs = await runExamples(codes.map(withFiles), root);
      for (const [index, { stdout, stderr }] of outputs.entries()) {
        const code = codes[index] ?? "";
        expect(stderr).toBe("");
        const said = [...code.matchAll(/^ *(?:if \(.*\) )?console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
        // An example without a stated output is only shown to run.
        if (said.length > 0) expect(stdout).toBe(said.map((line) => `${line}\n`).join(""));
      }
    },
  );

  it("docs/adding-an-operation.md: its definition works as it is used", { timeout: 60_000 }, async () => {
    // The examples as one file, outside the package: relative imports become imports of the package's entries.
    const [definition = "", kernel, loop = "", use = "", ...others] = examplesOf("docs/adding-an-operation.md");
    expect(others).toEqual([]);
    const code = [definition, use]
      .join("\n")
      .replace(/^import .* from "\.\/scale-shift\.ts";$/m, "")
      .replace('"../index.ts"', '"@nnhal/operations"')
      .replace(/"\.\.\/[a-z-]+\.ts"/g, '"@nnhal/operations/authoring"');
    const { stdout, stderr } = await runExample(code, root);
    expect(stderr).toBe("");
    expect(stdout).toBe("1.3\ninput 0 (input): expected TENSOR_FLOAT32, got TENSOR_INT32\n");
    const kernels = join(root, "packages/operations/src/ops");
    expect(readFileSync(join(kernels, "softmax.ts"), "utf8")).toContain(kernel);
    const lanes = readFileSync(join(kernels, "_lanes.ts"), "utf8").replace(/^ +/gm, "");
    expect(lanes).toContain(loop.replace(/^ +/gm, ""));
  });

  it("docs/debugging.md: its examples run", { timeout: 60_000 }, async () => {
    for (const { stderr } of await runExamples(examplesOf("docs/debugging.md"))) expect(stderr).toBe("");
  });

  it("docs/transport.md: its worker serves a device to the thread that starts it", { timeout: 60_000 }, async () => {
    const [worker = "", main = ""] = programsIn(readFileSync(join(root, "docs/transport.md"), "utf8")).map(
      ({ code }) => code,
    );
    const name = `.example-worker-${process.pid}.mjs`;
    writeFileSync(join(root, "apps/cli", name), worker);
    try {
      const asked = "\nconsole.log(device.getVersionString().version);\nprocess.exit();\n";
      const { stdout, stderr } = await runExample(main.replace('"worker.js"', JSON.stringify(name)) + asked);
      expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^nnhal-reference-\d/), stderr: "" });
    } finally {
      rmSync(join(root, "apps/cli", name));
    }
  });

  it.each(["README.md", "packages/nnhal/README.md"])(
    "%s: its first ten lines say what to install for speed",
    (path) => {
      const start = readFileSync(join(root, path), "utf8").split("\n").slice(0, 10).join("\n");
      const [, engine = "", peer = ""] = /speed.*`npm install @nnhal\/([\w-]+) ([\w-]+)`/s.exec(start) ?? [];
      const manifest = JSON.parse(readFileSync(join(root, "packages", engine, "package.json"), "utf8"));
      expect(Object.keys(manifest.peerDependencies)).toEqual([peer]);
    },
  );

  it("the first example of README.md sees the 3, and the second names a digit", {
    timeout: 60_000,
  }, async () => {
    const outputs = [];
    for (const code of examplesOf("README.md")) outputs.push(await runExample(withFiles(code), root));
    expect(outputs.map(({ stderr }) => stderr).join("")).toBe("");
    expect(outputs[0]?.stdout).toMatch(/^\[\n {2}\{ index: 3, label: null, score: 0\.9/);
    expect(outputs[1]?.stdout).toMatch(/^most likely a [0-9]\n$/);
  });
});
