/**
 * The definition of an operation: one record that validation, minimum version, type support, shape inference, documentation, cost
 * prediction and the reference backend all read.
 */
import type { HalVersion } from "@nnhal/types";
import type { OptionValues, StoredOptions } from "./custom-options.ts";
import type { AnyOperandType } from "./operand-type.ts";
import type { AnyArgs, AnyOutputs, ArgsOf, ColumnsOf, OutputsOf, Param } from "./params.ts";
import type { KernelResult } from "./phases.ts";
import type { OutputTensor, Tensor, TensorData, TensorInfo } from "./tensor.ts";
import type { AnyExtents, Extents, Work, WorkKind } from "./work.ts";

/**
 * One legal combination of types: the HAL version that introduced it, then one type for each parameter that has no
 * fixed one: inputs in order, then outputs in order.
 */
export type TypeRow = readonly [since: HalVersion, ...types: AnyOperandType[]];

/** A type row with a given number of columns. */
export type RowOfLength<
  Columns extends number,
  Types extends readonly AnyOperandType[] = [],
> = Types["length"] extends Columns
  ? readonly [since: HalVersion, ...Types]
  : RowOfLength<Columns, [...Types, AnyOperandType]>;

/** The type rows of a form: one column for each input and output whose type varies. */
export type RowOf<Params extends readonly Param[], Outputs extends readonly Param[]> = readonly [
  since: HalVersion,
  ...ColumnsOf<Params>,
  ...ColumnsOf<Outputs>,
];

/** Bounds of a rank, both included; a number alone is both. */
export type RankRule = number | readonly [least: number, greatest: number];

/** The result of shape inference for one output. */
export interface OutputInfo {
  readonly dimensions: readonly number[];
  /** Set if the operation fixes the output's quantisation; absent if the model chooses it. */
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** The results of shape inference for all outputs, by parameter name. */
export type AnyOutputInfos = Readonly<Record<string, OutputInfo | readonly OutputInfo[] | undefined>>;

/** Cache of constants as float64 elements, kept by an executor between runs. The key is the constant's original elements. */
export interface Widened {
  get(data: TensorData): Float64Array | undefined;
  /** Returns whether `set` would keep the elements: they belong to a constant, and there is room. */
  accepts(data: TensorData): boolean;
  /** Room for elements that `set` would keep. Default, and if undefined: memory of this thread. */
  readonly allocate?: ((data: TensorData) => Float64Array | undefined) | undefined;
  /** Keeps the elements, or does nothing if it does not accept them. */
  set(data: TensorData, wide: Float64Array): void;
}

/** Services for kernels. */
export interface KernelContext {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Default: no elements are kept. */
  readonly widened?: Widened;
}

/** An operand as validation sees it: extents may be unknown (0), the rank too ([]), and the value is that of a constant. */
export interface OperandInfo extends TensorInfo {
  /** The elements of a constant; absent or undefined for other operands, and for a constant that cannot be read. */
  readonly data?: Tensor["data"] | undefined;
}

/** The argument record of `check`: like the kernel's, but scalars that are not constant are undefined. */
export type CheckArgs<Params extends readonly Param[]> = {
  readonly [Name in keyof ArgsOf<Params, OperandInfo>]: ArgsOf<Params, OperandInfo>[Name] extends number | boolean
    ? ArgsOf<Params, OperandInfo>[Name] | undefined
    : ArgsOf<Params, OperandInfo>[Name];
};

/** One way to write an operation's operand list. */
export interface Form {
  readonly params: readonly Param[];
  readonly outputs: readonly Param[];
  readonly types: readonly TypeRow[];
  /** Legal numbers of inputs; absent: any that drops optional ones from the end. Not used with a variadic input. */
  readonly counts?: readonly number[];
  /** Legal numbers of outputs; absent: as `counts`. */
  readonly outputCounts?: readonly number[];
  /**
   * Computes the arguments of the operation's first form that this form lacks or that have another meaning in it. All others are
   * taken over by name. Extents are known. Absent for the first form.
   */
  normalise?(args: AnyArgs): AnyArgs;
  check?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  since?(args: AnyArgs, outputs: AnyArgs): HalVersion | undefined;
}

/** An operation with any parameters. */
export interface Operation {
  /** The HAL's name, or the vendor's. */
  readonly name: string;
  /** The HAL's code; of an extension's operation the code within the extension. */
  readonly code: number;
  /** The name of the extension that the operation belongs to; absent for the HAL's own. */
  readonly extension?: string;
  /** One line that describes the computation. Empty in builds for browsers: documents are written from the sources. */
  readonly summary: string;
  /** The ways to write its operand list; kernels and backends see the arguments of the first. */
  readonly forms: readonly [Form, ...Form[]];
  readonly ranks: Readonly<Record<string, RankRule>>;
  /** Output shapes depend on the data: the kernel sets them with `resize`; `infer` returns 0 for an unknown extent. */
  readonly dynamic: boolean;
  /** IF and WHILE: the executor runs them, there is no kernel. */
  readonly controlFlow: boolean;
  /** Results are drawn with `KernelContext.random`, so that two runs may differ. */
  readonly random: boolean;
  /** Two inputs by name whose shapes broadcast; absent if none do. */
  readonly broadcasts?: readonly [string, string];
  /** Amount of computation: see `workOf`. A kind alone: one such step for each element read or written. */
  readonly work: WorkKind | ((inputs: AnyExtents, outputs: AnyExtents) => Work);
  /** See `OperationSpec.customOptions`. */
  customOptions?(stored: StoredOptions): OptionValues;
  infer?(args: AnyArgs, outputs: AnyArgs): AnyOutputInfos;
  reference?(args: AnyArgs, outputs: AnyOutputs, context: KernelContext): KernelResult;
}

/** A form whose parameters are known to the compiler. */
export interface TypedForm<Params extends readonly Param[], Outputs extends readonly Param[]> extends Form {
  readonly params: Params;
  readonly outputs: Outputs;
}

/**
 * An operation whose name, parameters and outputs are known to the compiler; `Others` are the parameters of its other forms. Code for
 * all operations alike uses `Operation`.
 */
export interface TypedOperation<
  Name extends string,
  Params extends readonly Param[],
  Outputs extends readonly Param[],
  Others extends readonly Param[] = never,
> extends Operation {
  readonly name: Name;
  readonly forms: readonly [TypedForm<Params, Outputs>, ...TypedForm<Others, readonly Param[]>[]];
}

/** A definition, as `defineOperation` expects it. */
export interface OperationSpec<
  Name extends string,
  Params extends readonly Param[],
  Outputs extends readonly Param[],
  Others extends readonly unknown[],
> {
  readonly name: Name;
  readonly code: number;
  readonly summary: string;
  readonly params: Params;
  readonly outputs: Outputs;
  readonly types: readonly RowOf<Params, Outputs>[];
  readonly counts?: readonly number[];
  readonly outputCounts?: readonly number[];
  /** Rank bounds by parameter name. Validation applies them if the rank is known, execution always. */
  readonly ranks?: { readonly [Name in Params[number]["name"]]?: RankRule };
  readonly dynamic?: boolean;
  readonly controlFlow?: boolean;
  /** See `Operation.random`. Default: false. */
  readonly random?: boolean;
  /** See `Operation.broadcasts`. */
  readonly broadcasts?: readonly [Params[number]["name"], Params[number]["name"]];
  /**
   * Amount of computation, from which times are predicted. A kind alone: one such step for each element read or
   * written. A function reads only operands that every form has. Default: `element`.
   */
  readonly work?: WorkKind | ((inputs: OutputsOf<Params, Extents>, outputs: OutputsOf<Outputs, Extents>) => Work);
  /** Other ways to write the operand list: see `alternative`. */
  readonly alternatives?: Others & FittingAlternatives<Others, Params, Outputs>;
  /** Rules that type rows cannot express. Returns the broken rule with the actual values, or undefined. Run by validation. */
  check?(args: CheckArgs<Params>, outputs: OutputsOf<Outputs, OperandInfo>): string | undefined;
  /** A later HAL version that these operands need, if it depends on more than their types. */
  since?(args: CheckArgs<Params>, outputs: OutputsOf<Outputs, OperandInfo>): HalVersion | undefined;
  /**
   * Output shapes from input shapes, and quantisation if the operation fixes it. All extents are known. `outputs`: the model's
   * declarations of the outputs. Throws OperationError.
   */
  infer?(args: ArgsOf<Params, TensorInfo>, outputs: OutputsOf<Outputs, TensorInfo>): OutputsOf<Outputs, OutputInfo>;
  /**
   * The values of parameters by the options of the custom operator of the operation's name, in a .tflite file. Whatever it throws refuses
   * the operator with that message. A parameter without a value has its default. Without this function, an option has the parameter's name
   * and is in the map of a FlexBuffer.
   */
  customOptions?(stored: StoredOptions): OptionValues<Params>;
  /**
   * Computes the outputs, or returns the phases that do: plain loops over ranges of units that define the right result. What it does
   * itself is little, such as tables. Both throw OperationError. Not called if no output has elements, unless the operation is `dynamic`.
   */
  reference?(
    args: ArgsOf<Params, Tensor>,
    outputs: OutputsOf<Outputs, OutputTensor>,
    context: KernelContext,
  ): KernelResult;
}

/** Another way to write an operand list: see `alternative`. */
export interface Alternative<
  Params extends readonly Param[],
  Made extends object,
  Own extends readonly Param[] | undefined,
  Rows extends readonly TypeRow[],
> {
  readonly params: Params;
  readonly outputs?: Own;
  readonly types?: Rows;
  readonly counts?: readonly number[];
  readonly outputCounts?: readonly number[];
  normalise(args: AnyArgs): Made;
  check?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  since?(args: AnyArgs, outputs: AnyArgs): HalVersion | undefined;
}

/** The required type of each alternative to a first form with these parameters and outputs. */
type FittingAlternatives<
  Others extends readonly unknown[],
  Params extends readonly Param[],
  Outputs extends readonly Param[],
> = {
  readonly [Index in keyof Others]: Others[Index] extends {
    readonly params: infer Own extends readonly Param[];
    readonly outputs?: infer OwnOutputs;
  }
    ? Alternative<
        Own,
        Added<ArgsOf<Params, Tensor>, ArgsOf<Own, Tensor>>,
        OwnOutputs extends readonly Param[] ? OwnOutputs : undefined,
        readonly RowOf<Own, OwnOutputs extends readonly Param[] ? OwnOutputs : Outputs>[]
      >
    : never;
};

/** The parameters of each of a list of alternatives, as a union. */
type ParamsOf<Others extends readonly unknown[]> = Others[number] extends infer Other
  ? Other extends { readonly params: infer Params extends readonly Param[] }
    ? Params
    : never
  : never;

/** Arguments of the first form: those that another form lacks or has in another type are required, all others allowed. */
type Added<First, Other> = Partial<First> & {
  readonly [Name in keyof First as Name extends keyof Other
    ? Other[Name] extends First[Name]
      ? never
      : Name
    : Name]: First[Name];
};

/** Another form, as `alternative` expects it. Absent outputs, types, check and since are those of the first form. */
export interface AlternativeSpec<
  Params extends readonly Param[],
  Made extends object,
  Own extends readonly Param[] | undefined,
  Rows extends readonly TypeRow[],
> {
  readonly params: Params;
  readonly outputs?: Own;
  readonly types?: Rows;
  readonly counts?: readonly number[];
  readonly outputCounts?: readonly number[];
  /** See `Form.normalise`. */
  normalise(args: ArgsOf<Params, Tensor>): Made;
  check?(args: CheckArgs<Params>, outputs: Readonly<Record<string, OperandInfo>>): string | undefined;
  since?(args: CheckArgs<Params>, outputs: Readonly<Record<string, OperandInfo>>): HalVersion | undefined;
}

/** Describes another way to write an operation's operand list. `defineOperation` checks that it fits the first form. */
export function alternative<
  const Params extends readonly Param[],
  Made extends object,
  const Own extends readonly Param[] | undefined = undefined,
  const Rows extends readonly TypeRow[] = readonly never[],
>(spec: AlternativeSpec<Params, Made, Own, Rows>): Alternative<Params, Made, Own, Rows> {
  // Methods are bivariant: the engine only ever passes the record that `params` describes.
  return spec as Alternative<Params, Made, Own, Rows>;
}

/**
 * Defines an operation. The types of `infer`, `check` and `reference` follow from `params` and `outputs`, and so does the number
 * of columns of each type row.
 */
export function defineOperation<
  const Name extends string,
  const Params extends readonly Param[],
  const Outputs extends readonly Param[],
  const Others extends readonly unknown[] = readonly [],
>(spec: OperationSpec<Name, Params, Outputs, Others>): TypedOperation<Name, Params, Outputs, ParamsOf<Others>> {
  const { name, code, summary, alternatives = [], ranks = {} } = spec;
  // The types of its arguments follow from the operands; the table of operations has all alike.
  const first: AnySpec = spec as unknown as AnySpec;
  const { infer, reference } = first;
  const firstForm: TypedForm<Params, Outputs> = {
    params: spec.params,
    outputs: spec.outputs,
    types: spec.types,
    ...(spec.counts && { counts: spec.counts }),
    ...(spec.outputCounts && { outputCounts: spec.outputCounts }),
    ...(first.check && { check: first.check }),
    ...(first.since && { since: first.since }),
  };
  // Erased, as all forms are of one type.
  const others = alternatives as readonly Alternative<
    ParamsOf<Others>,
    AnyArgs,
    readonly Param[],
    readonly TypeRow[]
  >[];
  const otherForms = others.map((other) => {
    const { counts: _counts, outputCounts, ...inherited } = firstForm;
    return {
      ...inherited,
      ...(!other.outputs && outputCounts && { outputCounts }),
      ...other,
    };
  });
  return {
    name,
    code,
    summary,
    forms: [firstForm, ...otherForms],
    ranks: ranks as Readonly<Record<string, RankRule>>,
    dynamic: spec.dynamic ?? false,
    controlFlow: spec.controlFlow ?? false,
    random: spec.random ?? false,
    ...(spec.broadcasts && { broadcasts: spec.broadcasts }),
    work: first.work ?? "element",
    ...(spec.customOptions && { customOptions: spec.customOptions }),
    ...(infer && { infer }),
    ...(reference && { reference: spec.dynamic ? reference : ifElements(reference) }),
  };
}

/** A kernel that does nothing if no output has elements. */
function ifElements(kernel: NonNullable<Operation["reference"]>): NonNullable<Operation["reference"]> {
  return (args, outputs, context) => {
    for (const name in outputs) if (hasElements(outputs[name])) return kernel(args, outputs, context);
    return undefined;
  };
}

function hasElements(output: AnyOutputs[string]): boolean {
  if (output === undefined) return false;
  return "data" in output ? output.data.length > 0 : output.some(hasElements);
}

/** A spec whose methods take the erased records. */
type AnySpec = Pick<Form, "check" | "since"> &
  Pick<Operation, "infer" | "reference"> &
  Partial<Pick<Operation, "work">>;
