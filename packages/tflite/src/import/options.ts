/**
 * Options of importing a model, and their checks.
 */
import { type ExtensionDefinition, type OptionNames, unknownOption } from "@nnhal/operations";
import { canonicalHalVersion, type HalVersion, halVersions } from "@nnhal/types";
import { describeValue, ensure, quote } from "../error.ts";
import type { ReadingOptions } from "../ranges.ts";
import type { EmptyInputs } from "./empty-inputs.ts";
import { checkShapeOptions, type ShapeOptions } from "./shapes.ts";

/** Options of importing a model. */
export interface ImportOptions extends ShapeOptions, ReadingOptions {
  /**
   * True if operators and types that the HAL lacks become those of the extension `nnhal.tflite`, which a device must have to run the
   * model. Default: true. False: the model is of HAL 1.3 alone, and what it cannot express is a problem.
   */
  readonly extensions?: boolean;
  /**
   * The HAL version of the devices that the model is for. From `aidl2` and `aidl3` on, operations that AIDL adds are used where they have the
   * results of the operators: PACK, BATCH_MATMUL, MIRROR_PAD, REVERSE, RESHAPE of TENSOR_INT32, RSQRT of 8 bits. Default: `1.3`.
   */
  readonly halVersion?: HalVersion;
  /**
   * Form of hybrid layers, those with float inputs and 8-bit weights. "quantised": the layer quantises its input at each execution,
   * as .tflite's kernels do; an operation of the extension. "widened": the weights become floats, and the layer is computed in float by
   * an operation of the HAL, which accelerators take. Default: "quantised"; without the extension, and if it lacks the layer, "widened".
   */
  readonly hybrid?: "quantised" | "widened";
  /**
   * Extensions with operations for custom operators. A custom operator becomes the operation of its name: its tensors in order, then the
   * scalars of the operation, each the option of its name in the operator's FlexBuffer. A device must have the extension to run the model.
   * Default: none.
   */
  readonly customOperators?: readonly ExtensionDefinition[];
  /**
   * The key of the file's signature to import, such as `serving_default`: its subgraph, with inputs and outputs in its order; inputs
   * that it does not name follow. Default: the first subgraph, with inputs and outputs in the subgraph's order.
   */
  readonly signature?: string;
  /**
   * Inputs without elements, by place, with their shapes: those of an execution in which a tensor has an extent of 0. The HAL has no
   * requests with such values, so they are constants of the model, and not among its inputs. Default: none.
   */
  readonly emptyInputs?: EmptyInputs;
}

const importOptions: OptionNames<ImportOptions> = {
  extensions: true,
  halVersion: true,
  hybrid: true,
  customOperators: true,
  signature: true,
  emptyInputs: true,
  outside: true,
  inputShapes: true,
  dynamicShapes: true,
};

/** Options with their defaults. */
type CheckedOptions = ImportOptions &
  Required<Pick<ImportOptions, "extensions" | "hybrid" | "halVersion" | "customOperators">>;

/** The options with their defaults. Throws a TfliteError if one is wrong. */
export function checkOptions(options: ImportOptions): CheckedOptions {
  checkShapeOptions(options);
  // The names of a mapped type are strings.
  const unknown = unknownOption(options, importOptions as Readonly<Record<string, true>>);
  ensure(unknown === undefined, "options", () => unknown ?? "");
  const { signature, hybrid = "quantised", halVersion = canonicalHalVersion } = options;
  ensure(
    signature === undefined || typeof signature === "string",
    "options.signature",
    () => `expected a string, got ${describeValue(signature)}`,
  );
  return {
    ...options,
    extensions: options.extensions !== false,
    hybrid: oneOf("hybrid", hybrid, ["quantised", "widened"]),
    halVersion: oneOf("halVersion", halVersion, halVersions),
    customOperators: customOperatorsOf(options),
  };
}

/** An option that is one of several values. */
function oneOf<Value>(name: "hybrid" | "halVersion", value: Value, allowed: readonly Value[]): Value {
  ensure(
    allowed.includes(value),
    `options.${name}`,
    () =>
      `expected one of ${allowed.join(", ")}, got ${typeof value === "string" ? quote(value) : describeValue(value)}`,
  );
  return value;
}

/** The option `customOperators`, checked. */
function customOperatorsOf({ customOperators = [] }: ImportOptions): readonly ExtensionDefinition[] {
  const isExtension = (each: Partial<ExtensionDefinition> | null | undefined) =>
    each?.name !== undefined && Array.isArray(each.operations);
  ensure(
    Array.isArray(customOperators) && customOperators.every(isExtension),
    "options.customOperators",
    () => `expected a list of extensions, got ${describeValue(customOperators)}`,
  );
  return customOperators;
}
