/**
 * The types of the arguments and outputs that kernels receive, by the operation's name.
 */
import type { OperandInfo } from "./define.ts";
import type { DefinitionArgs, DefinitionFormArgs, DefinitionOutputs } from "./definition-args.ts";
import type { OperationTypes } from "./operation-types.gen.ts";
import type { TensorInfo } from "./tensor.ts";

/** The name of an operation that is defined here. */
export type OperationName = keyof OperationTypes;

/** The definition of an operation. */
type Definition<Name extends OperationName> = OperationTypes[Name];

/** `DefinitionArgs` of an operation of the HAL. For several names it is the union of theirs. */
export type OperationArgs<Name extends OperationName, T extends TensorInfo = TensorInfo> = Name extends OperationName
  ? DefinitionArgs<Definition<Name>, T>
  : never;

/** `DefinitionOutputs` of an operation of the HAL. */
export type OperationOutputs<Name extends OperationName, T = TensorInfo> = Name extends OperationName
  ? DefinitionOutputs<Definition<Name>, T>
  : never;

/** `DefinitionFormArgs` of an operation of the HAL. */
export type FormArgs<Name extends OperationName, T extends OperandInfo = OperandInfo> = Name extends OperationName
  ? DefinitionFormArgs<Definition<Name>, T>
  : never;
