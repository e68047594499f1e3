/** Writes a package from the templates: real files in which only the words between double underscores are replaced. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const kinds = ["backend", "extension"] as const;
export type Kind = (typeof kinds)[number];

/** Replacements for the words of the templates. */
export type Words = Readonly<Record<"package" | "device" | "extension" | "nnhal", string>>;

/** The folder of this package. The templates are next to `src` in a checkout and next to `dist` in the package. */
const own = fileURLToPath(new URL("../", import.meta.url));
const templates = join(own, "templates");

/** npm leaves a .gitignore out of packages, and a package must not have a second package.json, so the templates have other names. */
const renamed: Readonly<Record<string, string>> = { _gitignore: ".gitignore", "_package.json": "package.json" };

/** Returns why a package cannot be written into a folder; undefined if it can. A folder with only a new git repository counts as empty. */
export function problemOfFolder(folder: string): string | undefined {
  const entry = statSync(folder, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  if (!entry.isDirectory()) return `${folder} exists and is not a folder`;
  const found = readdirSync(folder).filter((name) => name !== ".git");
  if (found.length === 0) return undefined;
  return `the folder ${folder} is not empty: it has ${found.slice(0, 3).join(", ")}${found.length > 3 ? ", …" : ""}`;
}

/** Writes the package into a folder. `isAlone`: outside of a workspace, with the files of a separate repository. Returns the files. */
export function scaffold(kind: Kind, folder: string, words: Words, isAlone: boolean): readonly string[] {
  const parts = [kind, "common", ...(isAlone ? ["standalone"] : [])];
  const sources = parts.flatMap((part) =>
    filesBelow(join(templates, part)).map((path) => ({
      source: join(templates, part, path),
      path: renamed[path] ?? path,
    })),
  );
  // The new package begins with the licence of this one.
  return [...sources, { source: join(own, "LICENSE"), path: "LICENSE" }].map(({ source, path }) => {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, replaceWords(readFileSync(source, "utf8"), words), { flag: "wx" });
    return path;
  });
}

function replaceWords(text: string, words: Words): string {
  return text.replace(/__([a-z]+)__/g, (word, name) => {
    const value = Object.entries(words).find(([key]) => key === name)?.[1];
    if (value === undefined) throw new Error(`the templates have the word ${word}, which stands for nothing`);
    return value;
  });
}

/** Paths of all files below a folder, relative to it. */
function filesBelow(folder: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

/** The version of this package, which is that of all packages of nnhal. */
export function ownVersion(): string {
  const file = join(own, "package.json");
  const manifest: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  if (manifest instanceof Object && "version" in manifest) return String(manifest.version);
  throw new Error(`${file} has no version`);
}
