/**
 * The places that devices like best for the values of inputs and outputs; any other place works too. Functions, since pages without them do
 * not load them.
 */
import { isAidl } from "@nnhal/types";
import type { Compilation } from "./compilation.ts";
import { expectKind } from "./given.ts";
import { expect, ResultCode } from "./result-code.ts";

/**
 * The alignment in bytes that suits the devices best for an input: its offset in a memory should be a multiple. A power of two (NNAPI:
 * ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput). Throws BAD_STATE for a compilation that is not finished, BAD_DATA for an
 * index that does not exist.
 */
export function getPreferredMemoryAlignmentForInput(compilation: Compilation, index: number): number {
  return layoutOf(compilation, "input", index, "getPreferredMemoryAlignmentForInput").alignment;
}

/**
 * The bytes of which the length of an input with its padding should be a multiple: see `Execution.enableInputAndOutputPadding`. A power of two
 * (NNAPI: ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput). Throws as `getPreferredMemoryAlignmentForInput`.
 */
export function getPreferredMemoryPaddingForInput(compilation: Compilation, index: number): number {
  return layoutOf(compilation, "input", index, "getPreferredMemoryPaddingForInput").padding;
}

/** As `getPreferredMemoryAlignmentForInput`, for an output (NNAPI: ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput). */
export function getPreferredMemoryAlignmentForOutput(compilation: Compilation, index: number): number {
  return layoutOf(compilation, "output", index, "getPreferredMemoryAlignmentForOutput").alignment;
}

/** As `getPreferredMemoryPaddingForInput`, for an output (NNAPI: ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput). */
export function getPreferredMemoryPaddingForOutput(compilation: Compilation, index: number): number {
  return layoutOf(compilation, "output", index, "getPreferredMemoryPaddingForOutput").padding;
}

/** The HAL recommends this alignment to all devices, and this padding since AIDL 1. */
const recommended = 64;
/** The alignment of a value that the runtime alone reads. */
const leastAlignment = 16;

/** The layout that suits all devices that use a value. */
function layoutOf(compilation: Compilation, side: "input" | "output", index: number, what: string) {
  expectKind(compilation, "Compilation", what, "compilation");
  const { isFinished, hal } = compilation;
  expect(isFinished, ResultCode.BAD_STATE, () => `${what}: the compilation is not finished`);
  const { length } = side === "input" ? hal.main.inputIndexes : hal.main.outputIndexes;
  const isThere = Number.isInteger(index) && index >= 0 && index < length;
  expect(isThere, ResultCode.BAD_DATA, () => `${what}: there are ${length} ${side}s, counted from 0`);
  let layout = { alignment: leastAlignment, padding: 1 };
  for (const { device } of compilation.rolesOf(side, index) ?? []) {
    const knowsPadding = isAidl(device.halVersion);
    layout = { alignment: recommended, padding: knowsPadding ? recommended : layout.padding };
  }
  return layout;
}
