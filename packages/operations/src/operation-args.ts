/**
 * The types of the arguments and outputs that kernels receive, by the operation's name or definition.
 */
import type { OperandInfo, Operation } from "./define.ts";
import type { OperationTypes } from "./operation-types.gen.ts";
import type { ArgsOf, OutputsOf, Param } from "./params.ts";
import type { TensorInfo } from "./tensor.ts";

/** The name of an operation that is defined here. */
export type OperationName = keyof OperationTypes;

/** The definition of an operation. */
type Definition<Name extends OperationName> = OperationTypes[Name];

/** `OperationArgs` of a definition. */
export type DefinitionArgs<Defined extends Operation, T extends TensorInfo = TensorInfo> = ArgsOf<
  Defined["forms"][0]["params"],
  T
>;

/** `OperationOutputs` of a definition. */
export type DefinitionOutputs<Defined extends Operation, T = TensorInfo> = OutputsOf<Defined["forms"][0]["outputs"], T>;

/** `FormArgs` of a definition. */
export type DefinitionFormArgs<Defined extends Operation, T extends OperandInfo = OperandInfo> = {
  readonly [Arg in NamesOf<FormParams<Defined>>]: ArgOf<FormParams<Defined>, Arg, T>;
};

/** The parameters of each form of an operation, as a union. */
type FormParams<Defined extends Operation> = Defined["forms"][number]["params"];

/**
 * The arguments of an operation's first form by name, as `bindArguments` returns them and kernels receive them. `T` is the type
 * of a tensor at that stage. For several names it is the union of theirs.
 */
export type OperationArgs<Name extends OperationName, T extends TensorInfo = TensorInfo> = Name extends OperationName
  ? DefinitionArgs<Definition<Name>, T>
  : never;

/** The outputs of an operation's first form by name. A trailing output that a model may leave out is optional. */
export type OperationOutputs<Name extends OperationName, T = TensorInfo> = Name extends OperationName
  ? DefinitionOutputs<Definition<Name>, T>
  : never;

/**
 * The arguments of the form that an operand list fits, by name, as `check` sees them: scalars that are not constant are undefined, and
 * so are arguments that only other forms have.
 */
export type FormArgs<Name extends OperationName, T extends OperandInfo = OperandInfo> = Name extends OperationName
  ? DefinitionFormArgs<Definition<Name>, T>
  : never;

/** All names in a union of parameter lists. */
type NamesOf<Params extends readonly Param[]> = Params extends readonly Param[] ? Params[number]["name"] : never;

/** The type of an argument in each list of a union. */
type ArgOf<Params extends readonly Param[], Arg extends string, T extends TensorInfo> = Params extends readonly Param[]
  ? Arg extends Params[number]["name"]
    ? Checked<ArgsOf<Params, T>[Arg & keyof ArgsOf<Params, T>], T>
    : undefined
  : never;

/** A scalar may be unknown, and a tensor's contents too. */
type Checked<Arg, T> = Arg extends number | boolean
  ? Arg | undefined
  : Arg extends readonly unknown[] | undefined
    ? Arg
    : T | Extract<Arg, undefined>;
