/** Convolutions at their limits on a device. */
import { modelRunner } from "@nnhal/conformance";
import { elementAt } from "@nnhal/operations";
import { type Device, ErrorStatus, OperandType } from "@nnhal/types";
import type { Pack } from "../convolutions.ts";
import type { Tally } from "../result.ts";

/** How far an element may be from the reference's: engines round at different steps. */
const allowed = 1;
const listed = 5;

/** Runs packs on a device. A convolution has failed if an element is more than one step off. */
export async function runConvolutions(device: Device, packs: readonly Pack[]): Promise<Tally> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const problems: string[] = [];
  for (const { model, inputs, expected, names } of packs) {
    const { status, supported, message } = await device.getSupportedOperations(model);
    if (status !== ErrorStatus.NONE) throw new Error(`getSupportedOperations: ${message}`);
    // Where one is refused, the model cannot be prepared whole.
    if (supported.includes(false)) {
      counts.skipped += names.length;
      continue;
    }
    const run = await modelRunner(model, [device]);
    const outputs = await run(inputs);
    for (const [place, name] of names.entries()) {
      const { outputIndexes, operands } = model.main;
      const isSigned = elementAt(operands, elementAt(outputIndexes, place)).type === OperandType.TENSOR_QUANT8_ASYMM_SIGNED;
      const problem = differenceOf(elementAt(outputs, place), elementAt(expected, place), isSigned);
      if (problem === undefined) counts.passed++;
      else {
        counts.failed++;
        if (problems.length < listed) problems.push(`${name}: ${problem}`);
      }
    }
  }
  return { ...counts, problems };
}


/** What is wrong with bytes; undefined if each is within the allowance. */
export function differenceOf(actual: Uint8Array, expected: Uint8Array, isSigned: boolean): string | undefined {
  if (actual.length !== expected.length) return `expected ${expected.length} bytes, got ${actual.length}`;
  const valueOf = (byte: number) => (isSigned ? (byte << 24) >> 24 : byte);
  let wrong = 0;
  let most = 0;
  for (const [place, byte] of actual.entries()) {
    const difference = Math.abs(valueOf(byte) - valueOf(elementAt(expected, place)));
    if (difference > allowed) wrong++;
    most = Math.max(most, difference);
  }
  return wrong === 0 ? undefined : `${wrong} of ${actual.length} elements are off, by up to ${most}`;
}
