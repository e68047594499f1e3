/** The programs that are attacked. Here, in the folder of the sources: `import.meta.url` is that of a file of this folder also in a bundle of them. */
import { fileURLToPath } from "node:url";

/** The program of a folder of `apps`. */
export function programOf(app: string): string {
  return fileURLToPath(new URL(`../../../apps/${app}/src/main.ts`, import.meta.url));
}

/** A source file of this tool, such as `server/assailants.ts`. */
export function sourceOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
