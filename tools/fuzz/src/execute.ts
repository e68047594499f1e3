/** A prepared model executed with inputs and outputs of the shapes that its model declares. */
import type { Model, Operand, PreparedModel, Request, RequestArgument } from "@nnhal/types";
import { nonExtensionOperandSizeOfData } from "@nnhal/utils";
import { mustBeExecuted } from "./answers.ts";
import { soon } from "./device.ts";
import { bytesOf, memoryWith } from "./model-input.ts";
import { must } from "./target.ts";

/** Most bytes of an input or output. Models with larger ones are not executed. */
const longestValue = 2 ** 16;

/** Executes a model with elements repeated from some bytes. Does nothing if it has inputs that are unknown or large. */
export async function executeOnce(model: Model, prepared: PreparedModel, elements: Uint8Array): Promise<void> {
  const { inputIndexes, outputIndexes, operands } = model.main;
  const operandsOf = (indexes: readonly number[]) => indexes.map((index) => operands[index]);
  const inputs = operandsOf(inputIndexes).map(sizeOf);
  const outputs = operandsOf(outputIndexes).map((operand) => sizeOf(operand) || 256);
  if (inputs.some((size) => size === 0) || [...inputs, ...outputs].some((size) => size > longestValue)) return;
  const place = (sizes: readonly number[], poolIndex: number) => {
    let offset = 0;
    return sizes.map((length): RequestArgument => {
      const argument = { hasNoValue: false, location: { poolIndex, offset, length }, dimensions: [] };
      offset += Math.ceil(length / 8) * 8;
      return argument;
    });
  };
  const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + Math.ceil(size / 8) * 8, 0);
  const filled = Uint8Array.from({ length: sum(inputs) }, (_, at) => elements[at % elements.length] ?? 0);
  const [given, results] = [memoryWith(filled), memoryWith(new Uint8Array(sum(outputs)))];
  const request: Request = {
    inputs: place(inputs, 0),
    outputs: place(outputs, 1),
    pools: [given, results].map((memory) => ({ kind: "memory", memory })),
  };
  mustBeExecuted(
    "execute",
    await prepared.execute(request, { deadline: soon(), loopTimeoutDuration: 100_000_000n }),
    outputs.length,
  );
  must(Buffer.compare(bytesOf(given), filled) === 0, () => "an execution has changed its inputs");
}

/** Bytes of an operand; 0 if they are unknown. */
function sizeOf(operand: Operand | undefined): number {
  if (operand === undefined) return 0;
  try {
    return nonExtensionOperandSizeOfData(operand.type, operand.dimensions);
  } catch {
    // Types of extensions have no size that is known here; nor have sizes beyond 32 bits.
    return operand.type > 0xffff ? 64 : longestValue + 1;
  }
}
