/** Functions of one 8-bit element as tables, for engines whose own functions differ from the fixed-point arithmetic of the HAL. */
import {
  createData,
  ensure,
  integerRange,
  type OperationName,
  operationByCode,
  runToEnd,
  type TensorInfo,
} from "@nnhal/operations";
import { OperationType } from "@nnhal/types";

/** The results of an operation for each element of an 8-bit tensor. */
export interface ElementTable {
  /** The element of the first result: the least of the type. */
  readonly least: number;
  /** 256 results as the output's type stores them. */
  readonly results: Float32Array;
}

/** The arguments of an operation on one tensor, which is under `input`, or under `inputs` as a list of one. */
export type TableArgs = { readonly input: TensorInfo } | { readonly inputs: readonly [TensorInfo]; readonly axis: 0 };

/**
 * The results of an elementwise operation, computed by the reference kernel. CONCATENATION of one tensor changes its quantisation. Throws an
 * OperationError if the reference does.
 */
export function elementTable(name: OperationName, args: TableArgs, output: TensorInfo): ElementTable {
  const operation = operationByCode(OperationType[name]);
  ensure(operation?.reference !== undefined, () => `${name} has no reference kernel`);
  const input = "input" in args ? args.input : args.inputs[0];
  const [least] = integerRange(input.type);
  const dimensions = [256];
  const data = createData(input.type, 256);
  for (let place = 0; place < 256; place++) data[place] = least + place;
  const tensor = { ...input, dimensions, data };
  const result = { ...output, dimensions, data: createData(output.type, 256) };
  const given = "input" in args ? { ...args, input: tensor } : { ...args, inputs: [tensor] };
  runToEnd(operation.reference(given, { output: result }, { random: () => 0 }));
  return { least, results: Float32Array.from(result.data) };
}
