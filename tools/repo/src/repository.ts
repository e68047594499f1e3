/**
 * The address of the repository, in one place: `repository` in the package.json of the root, such as `https://github.com/owner/nnhal`.
 * Once it is there, `npm run generate` writes what follows from it: `repository`, `homepage` and `bugs` of each published package, and the
 * links of package READMEs that lead out of the package as absolute ones. npm shows a README without the rest of the repository, so
 * relative links would be dead there; until the address is known, `npm run release` refuses to publish.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { SourceFile } from "./workspace.ts";

/** The address; undefined until it is known. Throws for one that is not a web address of a repository. */
export function repositoryOf(root: string): string | undefined {
  const { repository }: { readonly repository?: unknown } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  if (repository === undefined) return undefined;
  if (typeof repository === "string" && /^https:\/\/[^/]+(\/[\w.-]+){2,}(?<!\/|\.git)$/.test(repository))
    return repository;
  throw new Error(
    `"repository" in package.json is ${JSON.stringify(repository)}, not an address such as https://github.com/owner/name`,
  );
}

/** Returns the required manifests and READMEs of published packages. None if the address is not known. */
export function describedPackages(root: string, repository = repositoryOf(root)): readonly SourceFile[] {
  if (repository === undefined) return [];
  const folders = ["apps", "packages"].flatMap((parent) =>
    existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}`) : [],
  );
  return folders.flatMap((folder) => {
    const manifest = join(root, folder, "package.json");
    if (!existsSync(manifest)) return [];
    const text = readFileSync(manifest, "utf8");
    const { private: isPrivate = false }: { readonly private?: boolean } = JSON.parse(text);
    if (isPrivate) return [];
    const readme = join(root, folder, "README.md");
    return [
      { path: `${folder}/package.json`, text: describedManifest(text, folder, repository) },
      ...(existsSync(readme)
        ? [{ path: `${folder}/README.md`, text: withAbsoluteLinks(readFileSync(readme, "utf8"), folder, repository) }]
        : []),
    ];
  });
}

/** A manifest with the three fields, behind the licence. The rest of the text stays as it is formatted. */
export function describedManifest(text: string, folder: string, repository: string): string {
  const without = text
    .replace(/^ {2}"(homepage|bugs)": "[^"]*",\n/gm, "")
    .replace(/^ {2}"repository": \{[^}]*\},\n/m, "");
  const fields = `  "homepage": "${repository}/tree/main/${folder}#readme",
  "repository": {
    "type": "git",
    "url": "git+${repository}.git",
    "directory": "${folder}"
  },
  "bugs": "${repository}/issues",
`;
  return without.replace(/^ {2}"license": .*\n/m, (licence) => licence + fields);
}

/** A README whose relative links are absolute. Places within the page stay as they are. */
export function withAbsoluteLinks(text: string, folder: string, repository: string): string {
  return text.replace(/(\]\()([^)\s]+)(\))/g, (link, open: string, target: string, close: string) => {
    if (/^([a-z]+:|#)/.test(target)) return link;
    const [path = "", place] = target.split("#");
    const end = place === undefined ? "" : `#${place}`;
    return `${open}${repository}/blob/main/${posix.join(folder, path)}${end}${close}`;
  });
}
