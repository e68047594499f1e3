/**
 * Declarations of all packages, made at once by the compiler that also checks types. A package's build then only joins those
 * of its entries, in a small part of the time that it takes to make them package by package.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type CommandResult, runCommand } from "./process.ts";

/** The compiler for checks and declarations. The other, which tsup and the API reports call, takes three times as long. */
export const compiler = join(
  dirname(createRequire(import.meta.url).resolve("typescript-native/package.json")),
  "bin/tsc",
);

/** Where declarations are, from the root: each at the path of its source. Not in node_modules, from which nothing is joined. */
const declarationsFolder = ".declarations";

/** Makes the declarations of all packages anew. */
export async function emitDeclarations(root: string): Promise<CommandResult> {
  const folder = join(root, declarationsFolder);
  rmSync(folder, { recursive: true, force: true });
  const result = await runCommand(root, process.execPath, [compiler, "-p", "tsconfig.declarations.json"]);
  if (result.ok) {
    for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!path.endsWith(".d.ts")) continue;
      const file = join(folder, path);
      writeFileSync(file, withoutSources(readFileSync(file, "utf8")));
    }
  }
  return result;
}

/** A declaration whose relative imports name declarations: the compiler leaves the names of sources in them. */
export function withoutSources(declaration: string): string {
  return declaration.replace(/((?:\bfrom |\bimport\()"\.{1,2}\/[^"]*)\.ts"/g, '$1.js"');
}
