/**
 * The services that a daemon can offer: a name, and the source of its device's backend. A service is data, since its device is
 * opened in a separate thread.
 */
import { createRequire } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Backend } from "@nnhal/backend";
import { exportedBackend, fastEngines, referenceEngine } from "@nnhal/backend/engines";
import { UsageError } from "@nnhal/program";
import { type Sample, samples } from "./samples/table.ts";

/** One service. */
export interface Service {
  /** The name of the device and of its socket. */
  readonly name: string;
  /** A sample device of the table, or a module that exports a backend as `backend`. */
  readonly source:
    | { readonly kind: "sample"; readonly sample: string }
    | { readonly kind: "module"; readonly module: string };
}

/** The packages of engines, by the names of their devices. They are found if they are installed. */
const engines: ReadonlyMap<string, string> = new Map(
  [referenceEngine, ...fastEngines].map(({ device, module }) => [device, module]),
);

/** The names of all devices that this package knows, installed or not. */
export const knownDevices: readonly string[] = [...samples.map(({ name }) => name), ...engines.keys()];

/** Stands for all devices whose packages are installed. */
export const allDevices = "all";

/** Returns true if the module of an engine can be found. */
export type IsInstalled = (module: string) => boolean;

/** Returns true if a package can be found from here. */
export function isInstalled(module: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`${module}/package.json`);
    return true;
  } catch {
    return false;
  }
}

/**
 * The services of `--devices`: names of devices with commas between them, each as it is or as NAME=DEVICE, to serve it under another
 * name; `all` for all that are installed. Throws a UsageError.
 */
export function servicesOf(text: string, hasPackage: IsInstalled = isInstalled): readonly Service[] {
  const services = text.split(",").flatMap((part) => {
    const item = part.trim();
    if (item === allDevices) {
      return knownDevices.filter((name) => isHere(name, hasPackage)).map((name) => serviceOf(name, name));
    }
    const at = item.indexOf("=");
    const device = item.slice(at + 1).trim();
    const name = at < 0 ? device : item.slice(0, at).trim();
    if (!knownDevices.includes(device)) {
      throw new UsageError(`there is no device ${JSON.stringify(device)}; there are: ${knownDevices.join(", ")}`);
    }
    if (!isHere(device, hasPackage)) {
      const { module, needs } = fastEngines.find((engine) => engine.device === device) ?? referenceEngine;
      throw new UsageError(`${device} needs the package ${module}: npm install ${[module, ...needs].join(" ")}`);
    }
    return [serviceOf(name, device)];
  });
  return withoutDoubles(services);
}

/** The service of a module of the user, with the device's name before `=`: `acme-npu=./backend.js`. */
export function serviceOfModule(text: string, folder: string): Service {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`${JSON.stringify(text)} is not of the form NAME=MODULE`);
  const module = text.slice(at + 1);
  const isPath = isAbsolute(module) || /^\.{1,2}[/\\]/.test(module);
  const href = isPath ? pathToFileURL(resolve(folder, module)).href : module;
  return { name: text.slice(0, at), source: { kind: "module", module: href } };
}

/** The services, if no two have one name. Throws a UsageError. */
export function withoutDoubles(services: readonly Service[]): readonly Service[] {
  const names = services.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new UsageError(`two services are called ${twice}`);
  return services;
}

function isHere(device: string, hasPackage: IsInstalled): boolean {
  const module = engines.get(device);
  return module === undefined || hasPackage(module);
}

function serviceOf(name: string, device: string): Service {
  const module = engines.get(device);
  return { name, source: module === undefined ? { kind: "sample", sample: device } : { kind: "module", module } };
}

/** The backend of a service, and whether it may cache prepared models. Rejects if its module cannot be loaded or exports no backend. */
export async function loadBackend({ name, source }: Service): Promise<{ backend: Backend; hasCaching: boolean }> {
  if (source.kind === "sample") {
    const sample: Sample | undefined = samples.find((one) => one.name === source.sample);
    if (sample === undefined) throw new UsageError(`the sample device "${source.sample}" is not known`);
    const { sampleBackend } = await import("./samples/sample-backend.ts");
    return { backend: sampleBackend(sample, { name }), hasCaching: false };
  }
  // Packages of this project are found next to this one.
  const backend = exportedBackend(await import(source.module));
  if (backend === undefined) throw new UsageError(`the module ${source.module} does not export a backend as "backend"`);
  return { backend, hasCaching: true };
}
