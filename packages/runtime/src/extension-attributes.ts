/**
 * Attributes of extensions: hints that an application gives the driver of its only device, for a compilation or an execution. Functions, since
 * pages without them do not load them.
 */
import { type Device, ExtensionTypeEncoding, type Hints } from "@nnhal/types";
import { expectRight } from "./checks.ts";
import type { Compilation } from "./compilation.ts";
import type { Execution } from "./execution.ts";
import { describe, expectGiven, expectKind } from "./given.ts";
import { expect, ResultCode } from "./result-code.ts";

/** One attribute. */
export interface ExtensionAttribute {
  /** The name of an extension of the device. */
  readonly extensionName: string;
  /** The extension's own number of the attribute: 16 bits. */
  readonly code: number;
  /** The value, which is copied. */
  readonly data: Uint8Array;
}

const codes = 2 ** ExtensionTypeEncoding.LOW_BITS_TYPE;

/**
 * Adds an attribute to a compilation that is not finished (NNAPI: ANeuralNetworksCompilation_addExtensionAttribute). Throws
 * UNEXPECTED_NULL for an argument that is missing, BAD_STATE for a finished compilation, BAD_DATA unless it is for one explicit device, for
 * an extension that the device lacks, and for an attribute that was added before.
 */
export function addCompilationAttribute(compilation: Compilation, attribute: ExtensionAttribute): void {
  const what = "addCompilationAttribute";
  expectKind(compilation, "Compilation", what, "compilation");
  expectAttribute(attribute, what);
  compilation.expectOpen(what);
  compilation.expectOneExplicitDevice(what);
  const { settings, devices } = compilation;
  settings.hints = addAttribute(settings.hints, attribute, devices, what);
}

/**
 * Adds an attribute to an execution that has not started (NNAPI: ANeuralNetworksExecution_addExtensionAttribute). Throws as
 * `addCompilationAttribute` does.
 */
export function addExecutionAttribute(execution: Execution, attribute: ExtensionAttribute): void {
  const what = "addExecutionAttribute";
  expectKind(execution, "Execution", what, "execution");
  expectAttribute(attribute, what);
  const { run } = execution;
  const { compilation, settings } = run;
  compilation.expectOneExplicitDevice(what);
  run.expectOpen(what);
  settings.hints = addAttribute(settings.hints, attribute, compilation.usedDevices, what);
}

function expectAttribute(attribute: ExtensionAttribute, what: string): void {
  expectGiven(attribute, what, "attribute");
  expectGiven(attribute.extensionName, what, "extensionName");
  expectGiven(attribute.data, what, "data");
}

/** Returns hints with one more. Prefixes count from 1, in the order in which extensions are first used. */
function addAttribute(
  hints: Hints | undefined,
  { extensionName: name, code, data }: ExtensionAttribute,
  devices: readonly Pick<Device, "getSupportedExtensions">[],
  what: string,
): Hints {
  const { pairs, extensionNameToPrefix } = hints ?? { pairs: [], extensionNameToPrefix: [] };
  expectRight(Number.isInteger(code) && code >= 0 && code < codes, what, "a code, an integer within [0, 65536)", code);
  expectRight(data instanceof Uint8Array, what, "a Uint8Array", data);
  // Android gives an unknown name to the driver.
  const isKnown = devices.some((device) => device.getSupportedExtensions().extensions.some((one) => one.name === name));
  expect(isKnown, ResultCode.BAD_DATA, () => `${what}: the device has no extension ${describe(name)}`);
  const known = extensionNameToPrefix.find((entry) => entry.name === name);
  const prefix = known?.prefix ?? extensionNameToPrefix.length + 1;
  const token = prefix * codes + code;
  const isNew = pairs.every((pair) => pair.token !== token);
  expect(isNew, ResultCode.BAD_DATA, () => `${what}: attribute ${code} of ${name} was added before`);
  return {
    pairs: [...pairs, { token, value: data.slice() }],
    extensionNameToPrefix: known ? extensionNameToPrefix : [...extensionNameToPrefix, { name, prefix }],
  };
}
