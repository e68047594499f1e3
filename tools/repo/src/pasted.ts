/**
 * Checks the documents as their readers use them: each example in TypeScript is pasted into a folder into which npm has
 * installed the packed `nnhal`, with a network and a picture of the names that the documents use. Pictures of every format are
 * read there, too.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import { type CommandResult, runCommand } from "./process.ts";

/** The documents whose examples need only `nnhal` and its dependencies. */
export const pastedDocuments = [
  "README.md",
  "packages/nnhal/README.md",
  "packages/network/README.md",
  "packages/runtime/README.md",
  "docs/network.md",
  "docs/diff.md",
  "docs/runtime.md",
  "docs/browser.md",
] as const;

/** Pictures of one white pixel. */
export const whitePictures = {
  "white.bmp": "Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAA////AA==",
  "white.gif": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  "white.webp": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
} as const satisfies Readonly<Record<string, string>>;

/** The examples in TypeScript of a document's text. */
export function examplesIn(text: string): string[] {
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
}

/** Pastes the examples into a folder with the packed `nnhal`, and runs them in one process, each as a separate module. */
export async function checkPasted(root: string, project: string): Promise<CommandResult> {
  const demo = join(root, "apps/cli/demo");
  const digit = PNG.sync.read(readFileSync(join(demo, "3-chalk.png")));
  writeFileSync(join(project, "mobilenet.tflite"), readFileSync(join(demo, "digits-uint8.tflite")));
  writeFileSync(join(project, "mobilenet_float.tflite"), readFileSync(join(demo, "digits-float.tflite")));
  writeFileSync(join(project, "cat.jpg"), jpeg.encode(digit, 95).data);
  for (const [name, data] of Object.entries(whitePictures))
    writeFileSync(join(project, name), Buffer.from(data, "base64"));
  const pasted: string[] = [];
  for (const path of pastedDocuments) {
    for (const [index, example] of examplesIn(readFileSync(join(root, path), "utf8")).entries()) {
      // Types are left out, and nothing else changes: the syntax is that of the document.
      const { code } = await transform(example, { loader: "ts", target: "esnext", format: "esm" });
      const name = `${path.replaceAll(/\W/g, "-")}-${index + 1}.mjs`;
      writeFileSync(join(project, name), code);
      pasted.push(name);
    }
  }
  writeFileSync(join(project, "pasted.mjs"), pastedScript(pasted));
  const { ok, output } = await runCommand(root, process.execPath, ["pasted.mjs"], project);
  const seen = output.split("README-md-1.mjs ran")[0] ?? "";
  if (ok && !/^ {2}\{ index: 3, label: null, score: 0\.9/m.test(seen))
    return { ok: false, output: `the first example of README.md did not see the 3:\n${output}` };
  return { ok, output };
}

/** A module that imports others in turn, and reads the pictures. It fails if one of them does. */
function pastedScript(modules: readonly string[]): string {
  return `import { picture } from "nnhal";
for (const name of ${JSON.stringify(modules)}) {
  try {
    await import(\`./\${name}\`);
    console.log(\`\${name} ran\`);
  } catch (error) {
    console.log(\`\${name}: \${error.stack}\`);
    process.exitCode = 1;
  }
}
for (const name of ${JSON.stringify(Object.keys(whitePictures))}) {
  const { width, height, data } = await picture(name);
  const found = JSON.stringify({ width, height, data: [...data] });
  if (found === '{"width":1,"height":1,"data":[255,255,255]}') continue;
  console.log(\`\${name} is read as \${found}\`);
  process.exitCode = 1;
}
`;
}
