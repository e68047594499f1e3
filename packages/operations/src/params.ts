/**
 * Parameters of an operation: the small builders that a definition lists its inputs and outputs with, and the argument
 * record whose type follows from them.
 */
import type { HalVersion } from "@nnhal/types";
import type { AnyOperandType, AnyTensorData, ExtensionOperandType } from "./operand-type.ts";
import type { OutputTensor, Tensor, TensorInfo } from "./tensor.ts";

/** The kind of an argument in a kernel: a tensor, one number, a boolean, or the index of a subgraph. */
export type ParamKind = "tensor" | "number" | "boolean" | "subgraph";

/** One input or output of an operation. */
export interface Param<Name extends string = string, Kind extends ParamKind = ParamKind> {
  readonly name: Name;
  readonly kind: Kind;
  /** The type, if it is always the same. Without one the type rows have a column for the parameter. */
  readonly type?: AnyOperandType;
  /** IF and WHILE: any type at all. */
  readonly any?: true;
  /** May have lifetime NO_VALUE. */
  readonly omittable?: true;
  /** The elements may be those of a type with 64-bit integers: see `wide`. */
  readonly wide?: true;
  /** Has one or more operands of the same type (`any`: zero or more of any types). */
  readonly variadic?: true;
  /** Shape inference reads its contents. */
  readonly read?: true;
  /** An output that kernels need not write completely: unused places stay 0. */
  readonly mayStayZero?: true;
  /** May be left out at the end of the list; the HAL version that introduced it. */
  readonly since?: HalVersion;
  /** The value if it is left out. */
  readonly default?: number | boolean;
}

/** A parameter whose type varies: the type rows have a column for it. */
export interface VaryingParam<Name extends string, Kind extends ParamKind> extends Param<Name, Kind> {
  readonly type?: never;
}

/** A parameter whose type is always the same. */
export interface FixedParam<Name extends string, Kind extends ParamKind, Type extends AnyOperandType = AnyOperandType>
  extends Param<Name, Kind> {
  readonly type: Type;
}

/**
 * A tensor, or a scalar of an extension, which is a tensor of rank 0. Without a type the type rows have a column for it. With a type of
 * an extension, the kernel sees the elements in its typed array, and the `params` that its codec returns.
 */
export function tensor<const Name extends string>(name: Name): VaryingParam<Name, "tensor">;
export function tensor<const Name extends string, Type extends AnyOperandType>(
  name: Name,
  type: Type,
): FixedParam<Name, "tensor", Type>;
export function tensor(name: string, type?: AnyOperandType): Param<string, "tensor"> {
  return type === undefined ? { name, kind: "tensor" } : { name, kind: "tensor", type };
}

/** A scalar number whose type varies: the type rows have a column for it. */
export function scalar<const Name extends string>(name: Name): VaryingParam<Name, "number"> {
  return { name, kind: "number" };
}

/** An INT32 scalar. */
export function int32<const Name extends string>(name: Name): FixedParam<Name, "number"> {
  return { name, kind: "number", type: "INT32" };
}

/** A FLOAT32 scalar. */
export function float32<const Name extends string>(name: Name): FixedParam<Name, "number"> {
  return { name, kind: "number", type: "FLOAT32" };
}

/** A BOOL scalar. */
export function bool<const Name extends string>(name: Name): FixedParam<Name, "boolean"> {
  return { name, kind: "boolean", type: "BOOL" };
}

/** A reference to a subgraph. */
export function subgraph<const Name extends string>(name: Name): FixedParam<Name, "subgraph"> {
  return { name, kind: "subgraph", type: "SUBGRAPH" };
}

/** An operand of any type (IF and WHILE). */
export function any<const Name extends string>(name: Name): VaryingParam<Name, "tensor"> & { readonly any: true } {
  return { name, kind: "tensor", any: true };
}

/** Marks a parameter that may have lifetime NO_VALUE; its argument is undefined then. */
export function omittable<const P extends Param>(param: P): P & { readonly omittable: true } {
  return { ...param, omittable: true };
}

/** Marks a parameter with several operands; its argument is an array. */
export function variadic<const P extends Param>(param: P): P & { readonly variadic: true } {
  return { ...param, variadic: true };
}

/** Marks an output that kernels need not write completely, such as a scratch buffer or a list with unused places. */
export function mayStayZero<const P extends Param>(param: P): P & { readonly mayStayZero: true } {
  return { ...param, mayStayZero: true };
}

/**
 * Marks a tensor that may be of several types, some of them with 64-bit integers: its elements may be a BigInt64Array or a
 * BigUint64Array.
 */
export function wide<const P extends Param<string, "tensor">>(param: P): P & { readonly wide: true } {
  return { ...param, wide: true };
}

/** Marks a tensor whose contents shape inference reads, such as RESHAPE's shape. */
export function read<const P extends Param>(param: P): P & { readonly read: true } {
  return { ...param, read: true };
}

/** Marks a scalar that may be left out at the end of the list, and its value then. */
export function optional<const P extends Param<string, "number" | "boolean">>(
  since: HalVersion,
  param: P,
  value: P["kind"] extends "boolean" ? boolean : number,
): P & { readonly since: HalVersion; readonly default: number | boolean } {
  return { ...param, since, default: value };
}

/** Marks a tensor (input or output) that may be left out at the end of the list; its argument is undefined then. */
export function omittableFrom<const P extends Param<string, "tensor">>(
  since: HalVersion,
  param: P,
): P & { readonly since: HalVersion; readonly omittable: true } {
  return { ...param, since, omittable: true };
}

type OneArg<P extends Param, T> = P["kind"] extends "tensor"
  ? P extends { readonly read: true }
    ? OfType<P, T & Tensor>
    : OfType<P, T>
  : P["kind"] extends "boolean"
    ? boolean
    : number;

/** A tensor of the type of a parameter: elements and extension data as the type has them. */
type OfType<P extends Param, T> = P extends { readonly type: ExtensionOperandType<infer Data, infer Params> }
  ? WithElements<T, Data> &
      (unknown extends Params ? unknown : T extends TensorInfo ? { readonly params: Params } : unknown)
  : P extends { readonly wide: true }
    ? WithElements<T, AnyTensorData>
    : T;

/** `T` with other elements, if it has any. */
type WithElements<T, Data extends AnyTensorData> = {
  [Key in keyof T]: Key extends "data" ? (undefined extends T[Key] ? Data | undefined : Data) : T[Key];
};

type Arg<P extends Param, T> = P extends { readonly variadic: true }
  ? readonly OneArg<P, T>[]
  : P extends { readonly omittable: true }
    ? OneArg<P, T> | undefined
    : OneArg<P, T>;

/** The argument record of a parameter list; `T` is the type of a tensor at that stage. */
export type ArgsOf<Params extends readonly Param[], T extends TensorInfo> = {
  readonly [P in Params[number] as P["name"]]: Arg<P, T>;
};

/** The output record of a parameter list. */
export type OutputsOf<Params extends readonly Param[], T> = {
  readonly [P in Params[number] as P["name"]]: P extends { readonly variadic: true }
    ? readonly OfType<P, T>[]
    : P extends { readonly omittable: true }
      ? OfType<P, T> | undefined
      : OfType<P, T>;
};

/** The columns of a type row for a parameter list: a type for each parameter whose type varies. */
export type ColumnsOf<
  Params extends readonly Param[],
  Columns extends AnyOperandType[] = [],
> = Params extends readonly [infer First, ...infer Rest extends readonly Param[]]
  ? ColumnsOf<Rest, First extends FixedType ? Columns : [...Columns, AnyOperandType]>
  : Params extends readonly []
    ? Columns
    : [...Columns, ...AnyOperandType[]];

/** Parameters without a column in type rows. */
type FixedType = { readonly type: AnyOperandType } | { readonly any: true };

/** An argument of any parameter, for code that treats all operations alike. */
export type AnyArg = TensorInfo | readonly TensorInfo[] | number | boolean | undefined;

/** The arguments of any operation by parameter name. */
export type AnyArgs = Readonly<Record<string, AnyArg>>;

/** The outputs of any operation by parameter name. */
export type AnyOutputs = Readonly<Record<string, OutputTensor | readonly OutputTensor[] | undefined>>;
