/**
 * Extensions as callers give them: definitions, functions that load a module, and names of modules. It is loaded by need, and imports nothing,
 * as `apart.ts` says.
 */
import type { ExtensionDefinition } from "@nnhal/operations";
import type { Tools } from "./apart-tools.ts";

/**
 * An extension: its definition, a function that loads one or a module that exports some under any names, or the name of such a module. In a
 * browser and in bundles a function, such as `() => import("@nnhal/extension-mediapipe")`, since names mean nothing there.
 */
export type Extension = ExtensionDefinition | (() => Promise<unknown>) | string;

/** The definitions of extensions. Rejects with BAD_OPTION for one that cannot be loaded, and for a module that exports none. */
export async function openExtensions(
  given: readonly Extension[],
  tools: Tools,
): Promise<readonly ExtensionDefinition[]> {
  if (!Array.isArray(given)) throw refusal(`extensions: expected a list, got ${describe(given)}`, tools);
  return (await Promise.all(given.map((each: Extension, place) => openExtension(each, place, tools)))).flat();
}

async function openExtension(given: Extension, place: number, tools: Tools): Promise<readonly ExtensionDefinition[]> {
  const what = typeof given === "string" ? given : `extensions[${place}]`;
  const isLoaded = typeof given === "string" || typeof given === "function";
  const found = extensionsIn(isLoaded ? await loadExtension(given, what, tools) : given);
  if (found.length > 0) return found;
  throw refusal(
    isLoaded
      ? `extensions: expected a module that exports definitions of extensions, got ${what}, which exports none`
      : `${what}: expected the definition of an extension, a function or the name of a module, got ${describe(given)}`,
    tools,
  );
}

async function loadExtension(given: string | (() => Promise<unknown>), what: string, tools: Tools): Promise<unknown> {
  let loaded: unknown;
  try {
    loaded = await (typeof given === "string" ? tools.loadModule(given) : given());
  } catch (error) {
    if (error instanceof tools.NetworkError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw refusal(`extensions: loading ${what} failed: ${reason}`, tools, error);
  }
  if (loaded !== undefined || typeof given === "function") return loaded;
  throw refusal(`extensions: ${what} is not installed: npm install ${what}`, tools);
}

function refusal(message: string, { NetworkError, oneLine }: Tools, cause?: unknown): Error {
  return new NetworkError("BAD_OPTION", oneLine(message), cause === undefined ? {} : { cause });
}

/** The kind of a value that is not an extension. */
function describe(value: unknown): string {
  return value === null || value === undefined ? String(value) : `a value of the type ${typeof value}`;
}

/** The definition that a value is, or those that a module exports, also as a part of its default export. */
export function extensionsIn(value: unknown): readonly ExtensionDefinition[] {
  if (isExtension(value)) return [value];
  const { default: inner, ...own }: { readonly default?: unknown } = Object(value);
  const all = [...Object.values(own), ...(isExtension(inner) ? [inner] : Object.values(Object(inner)))];
  return [...new Set(all.filter(isExtension))];
}

function isExtension(value: unknown): value is ExtensionDefinition {
  const { name, operandTypes, operations }: Readonly<Record<string, unknown>> = Object(value);
  return typeof name === "string" && Array.isArray(operandTypes) && Array.isArray(operations);
}
