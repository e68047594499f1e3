/**
 * The types of the arguments and outputs that kernels receive, by the definition of the operation.
 */
import type { OperandInfo, Operation } from "./define.ts";
import type { ArgsOf, OutputsOf, Param } from "./params.ts";
import type { TensorInfo } from "./tensor.ts";

/**
 * The arguments of a definition's first form by name, as `bindArguments` returns them and kernels receive them. `T` is the type of a tensor at
 * that stage.
 */
export type DefinitionArgs<Defined extends Operation, T extends TensorInfo = TensorInfo> = ArgsOf<
  Defined["forms"][0]["params"],
  T
>;

/** The outputs of a definition's first form by name. A trailing output that a model may leave out is optional. */
export type DefinitionOutputs<Defined extends Operation, T = TensorInfo> = OutputsOf<Defined["forms"][0]["outputs"], T>;

/**
 * The arguments of the form that an operand list fits, by name, as `check` sees them: scalars that are not constant are undefined, and
 * so are arguments that only other forms have.
 */
export type DefinitionFormArgs<Defined extends Operation, T extends OperandInfo = OperandInfo> = {
  readonly [Arg in NamesOf<FormParams<Defined>>]: ArgOf<FormParams<Defined>, Arg, T>;
};

/** The parameters of each form of an operation, as a union. */
type FormParams<Defined extends Operation> = Defined["forms"][number]["params"];

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
