/**
 * The token under which prepared forms of a model are kept: a digest of its file and of everything that decides what the import makes of it.
 */
import type { ExtensionDefinition } from "@nnhal/operations";
import type { ImportOptions } from "@nnhal/tflite";
import { joinBytes } from "./bytes.ts";

/**
 * 32 bytes for a file and the very options with which it is imported: an option that is added later counts without a change here.
 * The runtime adds devices with their versions and the structure of what each of them prepares.
 */
export async function modelToken(
  file: Uint8Array,
  { outside = [], ...options }: ImportOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { subtle } = globalThis.crypto;
  const digest = async (bytes: Uint8Array) => new Uint8Array(await subtle.digest("SHA-256", new Uint8Array(bytes)));
  const digests = await Promise.all([file, ...outside.map(({ bytes }) => bytes)].map(digest));
  const content = joinBytes(digests);
  const places = outside.length > 0 && { outside: outside.map(({ group, offset }) => [group, offset]) };
  const settings = new TextEncoder().encode(JSON.stringify({ ...options, ...places }, canonicalMember));
  return digest(joinBytes([content, settings]));
}

/** A member of the options in a form that does not depend on the order in which it was written. */
function canonicalMember(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const plain = isExtension(value) ? extensionFacts(value) : value;
  return Object.fromEntries(Object.entries(plain).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isExtension(value: object): value is ExtensionDefinition {
  return "operations" in value && "operandTypes" in value;
}

/** Facts of an extension on which a model can depend. Kernels are functions, whose changes only the version shows. */
function extensionFacts({ name, version, operandTypes, operations }: ExtensionDefinition) {
  return {
    name,
    version,
    operandTypes: operandTypes.map((type) => [type.name, type.code, type.kind, type.elementSize]),
    operations: operations.map((operation) => [operation.name, operation.code]),
  };
}
