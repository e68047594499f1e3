/**
 * The extensions of several devices together (HAL 1.2 Extension).
 */
import type { Extension } from "@nnhal/types";

/** Extensions of several devices, and those that cannot be used because devices describe them differently. */
export interface MergedExtensions {
  readonly extensions: readonly Extension[];
  readonly disabled: ReadonlyMap<string, string>;
}

/** Merges the extensions of devices. `disabled`: reasons by name. */
export function mergeExtensions(
  devices: readonly { readonly name: string; readonly extensions: readonly Extension[] }[],
): MergedExtensions {
  const known = new Map<string, { readonly extension: Extension; readonly device: string }>();
  const disabled = new Map<string, string>();
  for (const { name: device, extensions } of devices) {
    for (const extension of extensions) {
      const first = known.get(extension.name);
      if (first === undefined) known.set(extension.name, { extension, device });
      else if (!isSame(first.extension, extension)) {
        disabled.set(extension.name, `${first.device} and ${device} describe its operand types differently`);
      }
    }
  }
  const agreed = [...known.values()].map(({ extension }) => extension).filter(({ name }) => !disabled.has(name));
  return { extensions: agreed, disabled };
}

function isSame(a: Extension, b: Extension): boolean {
  const text = ({ operandTypes }: Extension) =>
    operandTypes
      .map(({ type, isTensor, byteSize }) => `${type} ${isTensor} ${byteSize}`)
      .sort()
      .join();
  return text(a) === text(b);
}
