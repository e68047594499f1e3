/**
 * API reports: one text file per entry of each published package, with every exported declaration. They are checked in, so a
 * change of a package's surface shows in review. API Extractor makes them from the built declarations.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import type { Manifest, WorkspacePackage } from "./workspace.ts";

/** An entry of a package that has declarations. */
export interface ApiEntry {
  /** The name under which it is imported: `@nnhal/driver-core/device`. */
  readonly name: string;
  /** From the package's folder: `./dist/index.d.ts`. */
  readonly declarations: string;
  /** File name of the report in the package's folder `api`. */
  readonly report: string;
}

/** The state of the reports. Paths start at the root of the checkout. */
export interface ApiReports {
  /** Reports that were not up to date, and files that belong to no entry. */
  readonly stale: readonly string[];
  readonly problems: readonly string[];
}

/** The entries of a package. */
export function apiEntriesOf({ name, exports = {} }: Pick<Manifest, "name" | "exports">): ApiEntry[] {
  return Object.entries(exports).flatMap(([path, target]) => {
    const declarations = propertyOf(target, "types");
    if (typeof declarations !== "string") return [];
    const report = path === "." ? "index" : path.slice(2).replaceAll("/", "-");
    return [{ name: name + path.slice(1), declarations, report: `${report}.api.md` }];
  });
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Compares the reports of built packages with their declarations. `write`: also brings the reports up to date. */
export function checkApiReports(root: string, packages: readonly WorkspacePackage[], write: boolean): ApiReports {
  const made = mkdtempSync(join(tmpdir(), "nnhal-api-"));
  try {
    const stale: string[] = [];
    const problems: string[] = [];
    const entries = packages.flatMap(({ folder, manifest }) =>
      apiEntriesOf(manifest).map((entry) => ({ entry, folder, config: configOf(join(root, folder), entry, made) })),
    );
    const [first, ...others] = entries.map(({ config }) => config);
    if (first === undefined) return { stale, problems: ["no package has an entry with declarations"] };
    const additionalEntryPoints = others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath);
    // One program for all entries: most of the time is parsing and binding.
    const compilerState = CompilerState.create(first, { additionalEntryPoints });
    for (const { entry, folder, config } of entries) {
      const errors = makeReport(config, compilerState);
      if (errors.length > 0) problems.push(`${entry.name}: ${errors.join("\n  ")}`);
      else if (
        replaceIfStale(join(config.reportFolder, entry.report), join(root, folder, "api"), entry.report, write)
      ) {
        stale.push(`${folder}/api/${entry.report}`);
      }
    }
    for (const { folder, manifest } of packages) stale.push(...orphansOf(root, folder, manifest, write));
    return { stale, problems };
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function configOf(folder: string, { declarations, report }: ApiEntry, made: string): ExtractorConfig {
  const reportFolder = mkdtempSync(join(made, "report-"));
  const main = join(folder, declarations);
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, "package.json"),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: main,
      // As Git keeps them.
      newlineKind: "lf",
      compiler: { overrideTsconfig: { compilerOptions, files: [main] } },
      apiReport: { enabled: true, reportFileName: report, reportFolder, reportTempFolder: join(reportFolder, "new") },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  });
}

const compilerOptions = {
  target: "es2022",
  module: "nodenext",
  moduleResolution: "nodenext",
  lib: ["ES2023", "DOM"],
  types: ["node"],
  strict: true,
  skipLibCheck: true,
};

/** Makes one report in its temporary folder; returns the errors. */
function makeReport(config: ExtractorConfig, compilerState: CompilerState): string[] {
  const errors: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback(message) {
      message.handled = true;
      if (message.logLevel === ExtractorLogLevel.Error) errors.push(message.text);
    },
  });
  return succeeded || errors.length > 0 ? errors : ["API Extractor failed without a message"];
}

/** Returns true if the report in the folder `api` differs from the new one. */
function replaceIfStale(made: string, folder: string, report: string, write: boolean): boolean {
  const path = join(folder, report);
  const isStale = !existsSync(path) || readFileSync(path, "utf8") !== readFileSync(made, "utf8");
  if (isStale && write) {
    mkdirSync(folder, { recursive: true });
    copyFileSync(made, path);
  }
  return isStale;
}

/** Files among the reports of a package that belong to none of its entries. */
function orphansOf(root: string, folder: string, manifest: Manifest, write: boolean): string[] {
  const reports = join(root, folder, "api");
  if (!existsSync(reports)) return [];
  const known = new Set(apiEntriesOf(manifest).map(({ report }) => report));
  const orphans = readdirSync(reports).filter((name) => !known.has(name));
  if (write) for (const orphan of orphans) rmSync(join(reports, orphan), { recursive: true });
  return orphans.map((orphan) => `${folder}/api/${orphan}`);
}
