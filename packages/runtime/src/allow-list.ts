/**
 * Which applications may use the vendor extensions that devices describe (Android: nnapi_extensions_app_allowlist). The list protects
 * against accidents: an application that depends on one vendor without notice. It does not protect against an attacker, who can
 * run another program or set the environment.
 */
import { defaultLogger, environmentProperties, ifPermitted, type Logger, type PropertySource } from "@nnhal/utils";
import { optionalNodeModule, readRegularFile } from "@nnhal/utils/node";

/** An application that asks to use extensions. */
export interface Application {
  /** The absolute path of its script or program, without symbolic links. Undefined: it has none, as in a browser. */
  readonly path?: string | undefined;
  /** The `name` of the npm package that the script belongs to. Undefined: it belongs to none. */
  readonly packageName?: string | undefined;
}

/** Which applications may use extensions. */
export interface AllowList {
  /** Where the list comes from, for messages: a path, or a text in its place. */
  readonly source: string;
  /** Undefined: the application may use extensions. Otherwise why it must not. */
  whyRefused(application: Application): string | undefined;
}

/** Settings of `parseAllowList`. */
export interface AllowListOptions {
  /** Where the text comes from, for messages. Default: "the allow-list". */
  readonly source?: string | undefined;
  /** The platform whose path rules apply, as `process.platform` names it. Default: the platform at hand. */
  readonly platform?: string | undefined;
  /** Source of the property `ro.nnapi.extensions.deny_on_product`. Default: the environment. */
  readonly properties?: PropertySource | undefined;
  /** Receives the lines that are not entries. Default: the console. */
  readonly log?: Logger | undefined;
}

/** Every application may use extensions: for tests, and for applications that come with the devices they use. */
export const allowEveryApplication: AllowList = { source: "every application", whyRefused: () => undefined };

/**
 * Path of the file if `NNHAL_EXTENSIONS_ALLOWLIST` does not name one. On Windows it is in the folder `%ProgramData%`.
 */
export const defaultAllowListPath = "/etc/nnhal/extensions_allowlist";

function defaultPathOn(platform: string | undefined): string {
  if (platform !== "win32") return defaultAllowListPath;
  return `${ifPermitted(() => globalThis.process?.env?.ProgramData) ?? "C:\\ProgramData"}\\nnhal\\extensions_allowlist`;
}

const denyOnProduct = "ro.nnapi.extensions.deny_on_product";

/**
 * The allow-list in a text: one entry a line, the absolute path of a script or program, or the name of an npm package that contains a dot
 * or a scope. Blank lines are skipped; any other line is logged and skipped.
 */
export function parseAllowList(text: string, options: AllowListOptions = {}): AllowList {
  const { source = "the allow-list", log = defaultLogger, properties = environmentProperties } = options;
  const platform = options.platform ?? globalThis.process?.platform;
  const isProductDenied = (properties(denyOnProduct) ?? "") !== "";
  const paths = new Set<string>();
  const names = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    const entry = line.trim();
    if (entry === "") continue;
    if (isAbsolute(entry, platform)) paths.add(comparable(entry, platform));
    else if (isPackageName(entry)) names.add(entry);
    else
      log.error(
        `${source}:${index + 1}: ${JSON.stringify(entry)} is skipped: it is not an absolute path or the name of a package`,
      );
  }
  return {
    source,
    whyRefused({ path, packageName }) {
      const isListed =
        (path !== undefined && paths.has(comparable(path, platform))) ||
        (packageName !== undefined && names.has(packageName));
      if (!isListed) return `${source} does not name ${describe({ path, packageName })}`;
      if (platform !== "android" || path === undefined) return undefined;
      const problem = partitionProblem(path, isProductDenied);
      return problem === undefined ? undefined : `${path} ${problem}`;
    },
  };
}

function describe({ path, packageName }: Application): string {
  const names = [path, packageName && `package ${packageName}`].filter((each) => each !== undefined);
  return names.length === 0 ? "this application" : names.join(" or ");
}

/** A package name that cannot be mistaken for a word: it has a dot, as Android's names have, or an npm scope. */
function isPackageName(entry: string): boolean {
  return /^(?:@[\w.~-]+\/)[\w.~-]+$|^[\w~-]+(?:\.[\w~-]+)+$/.test(entry);
}

function isAbsolute(entry: string, platform: string | undefined): boolean {
  return platform === "win32" ? /^[A-Za-z]:[\\/]/.test(entry) : entry.startsWith("/");
}

/** Windows does not distinguish the cases of letters, and has two separators. */
function comparable(path: string, platform: string | undefined): string {
  return platform === "win32" ? path.replaceAll("/", "\\").toLowerCase() : path;
}

/** Android's partitions: extensions are for what the vendor and the user install, never for the system. */
function partitionProblem(path: string, isProductDenied: boolean): string | undefined {
  const isIn = (partition: string) => path.startsWith(`/${partition}/`);
  if (isIn("product") && isProductDenied) return `is in /product, and ${denyOnProduct} is set`;
  if (["vendor", "odm", "data", "product"].some(isIn)) return undefined;
  return "is not in /vendor, /odm, /data or /product";
}

/**
 * The allow-list of this machine: the file that `NNHAL_EXTENSIONS_ALLOWLIST` names, else `/etc/nnhal/extensions_allowlist`, on Windows
 * `%ProgramData%\nnhal\extensions_allowlist`. If the file is absent or cannot be read, is not a
 * regular file or has more than 1 MiB, no application is allowed.
 */
export function readAllowList(options: Omit<AllowListOptions, "source"> = {}): AllowList {
  const { log = defaultLogger, properties = environmentProperties } = options;
  const platform = options.platform ?? globalThis.process?.platform;
  const source = properties("ro.nnapi.extensions.allowlist") || defaultPathOn(platform);
  const files = optionalNodeModule("node:fs");
  const noApplication = (why: string): AllowList => ({ source, whyRefused: () => why });
  if (files === undefined) return noApplication("there are no files here, and so no allow-list");
  try {
    return parseAllowList(readText(source, "an allow-list"), { ...options, source });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return noApplication(`there is no allow-list at ${source}`);
    const reason = error instanceof Error ? error.message : String(error);
    log.error(`${source} cannot be read: ${reason}`);
    return noApplication(`the allow-list ${source} cannot be read: ${reason}`);
  }
}

/** Bytes of an allow-list or a package.json. */
const mostBytes = 2 ** 20;

/** Throws if it is not a regular file of at most `mostBytes`. */
function readText(path: string, purpose: string): string {
  return new TextDecoder().decode(readRegularFile(path, mostBytes, purpose));
}

/** The application that this process runs: its script without symbolic links, and the nearest package.json that has a name. */
export function currentApplication(): Application {
  const script = globalThis.process?.argv?.[1];
  const files = optionalNodeModule("node:fs");
  const paths = optionalNodeModule("node:path");
  if (script === undefined || files === undefined || paths === undefined) return {};
  try {
    const path = files.realpathSync(script);
    return { path, packageName: nearestPackageName(paths.dirname(path), files, paths) };
  } catch {
    // A script from standard input, or one that was deleted while it runs.
    return {};
  }
}

function nearestPackageName(
  folder: string,
  files: typeof import("node:fs"),
  paths: typeof import("node:path"),
): string | undefined {
  for (let at = folder; ; at = paths.dirname(at)) {
    const manifest = paths.join(at, "package.json");
    if (files.existsSync(manifest)) {
      const name = nameIn(readText(manifest, "the name of a package"));
      if (name !== undefined) return name;
    }
    if (at === paths.dirname(at)) return undefined;
  }
}

/** The name in a package.json; undefined if it has none, or is not JSON. */
function nameIn(text: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(text);
    const isNamed = typeof manifest === "object" && manifest !== null && "name" in manifest;
    return isNamed && typeof manifest.name === "string" ? manifest.name : undefined;
  } catch {
    return undefined;
  }
}
