/** Small packages for the tests of the checks. */
import type { Manifest, SourceFile, WorkspacePackage } from "./workspace.ts";

/** A package in `folder` whose sources are given by their path below src/. */
export function packageOf(
  folder: string,
  manifest: Partial<Manifest> = {},
  sources: Readonly<Record<string, string>> = {},
): WorkspacePackage {
  return {
    folder,
    manifest: { name: `@nnhal/${folder.split("/")[1]}`, ...manifest },
    sources: Object.entries(sources).map(([path, text]): SourceFile => ({ path: `${folder}/src/${path}`, text })),
  };
}
