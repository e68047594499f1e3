/**
 * What an operation is: one record that validation, minimum version, type support, shape inference, documentation and
 * the reference backend all read.
 */
import type { HalVersion, OperandTypeName } from "@nnhal/types";
import type { AnyArgs, AnyOutputs, ArgsOf, OutputsOf, Param } from "./params.ts";
import type { OutputTensor, Tensor, TensorData, TensorInfo } from "./tensor.ts";

/**
 * One legal combination of types: the HAL version that introduced it, then one type for each parameter that has no
 * fixed one: inputs in order, then outputs in order.
 */
export type TypeRow = readonly [since: HalVersion, ...types: OperandTypeName[]];

/** Bounds of a rank, both included; a number alone is both. */
export type RankRule = number | readonly [least: number, greatest: number];

/** What shape inference says of an output. */
export interface OutputInfo {
  readonly dimensions: readonly number[];
  /** Set where the operation fixes the output's quantisation; absent where the model chooses it. */
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** What shape inference says of all outputs by parameter name. */
export type AnyOutputInfos = Readonly<Record<string, OutputInfo | readonly OutputInfo[] | undefined>>;

/** Elements as float64 that an executor keeps from run to run, by the elements that they were made of. */
export interface Widened {
  get(data: TensorData): Float64Array | undefined;
  /** Whether `set` would keep them: they are a constant's, and there is room. */
  accepts(data: TensorData): boolean;
  /** Keeps them, or does nothing. */
  set(data: TensorData, wide: Float64Array): void;
}

/** What a kernel may use beside its arguments. */
export interface KernelContext {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Default: nothing is kept. */
  readonly widened?: Widened;
}

/**
 * What a kernel returns: nothing, or for a long computation an iterator that pauses now and then, so that whoever drives
 * it can let other work in between.
 */
export type KernelResult = void | Iterator<void, void>;

/** An operand as validation sees it: extents may be unknown (0), the rank too ([]), and the value is that of a constant. */
export interface OperandInfo extends TensorInfo {
  /** The elements, where the operand is a constant. */
  readonly data?: Tensor["data"];
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
   * Computes the arguments of the operation's first form that this one does not have, or that mean something else in it. All others
   * are those of the same name. Extents are known. Absent for the first form.
   */
  normalise?(args: AnyArgs): AnyArgs;
  check?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  since?(args: AnyArgs, outputs: AnyArgs): HalVersion | undefined;
}

/** An operation, whatever its parameters. */
export interface Operation {
  /** The HAL's name. */
  readonly name: string;
  readonly code: number;
  /** What it computes, in one line. */
  readonly summary: string;
  /** The ways to write its operand list; kernels and backends see the arguments of the first. */
  readonly forms: readonly [Form, ...Form[]];
  readonly ranks: Readonly<Record<string, RankRule>>;
  /** Output shapes depend on the data: the kernel sets them with `resize`; `infer` gives 0 for what it cannot know. */
  readonly dynamic: boolean;
  /** IF and WHILE: the executor runs them, there is no kernel. */
  readonly controlFlow: boolean;
  infer?(args: AnyArgs, outputs: AnyArgs): AnyOutputInfos;
  reference?(args: AnyArgs, outputs: AnyOutputs, context: KernelContext): KernelResult;
}

/** What a definition says; see `defineOperation`. */
export interface OperationSpec<Params extends readonly Param[], Outputs extends readonly Param[]> {
  readonly name: string;
  readonly code: number;
  readonly summary: string;
  readonly params: Params;
  readonly outputs: Outputs;
  readonly types: readonly TypeRow[];
  readonly counts?: readonly number[];
  readonly outputCounts?: readonly number[];
  /** Rank bounds by parameter name. Validation applies them where the rank is known, execution always. */
  readonly ranks?: { readonly [Name in Params[number]["name"]]?: RankRule };
  readonly dynamic?: boolean;
  readonly controlFlow?: boolean;
  /** Other ways to write the operand list: see `alternative`. */
  readonly alternatives?: readonly Alternative<ArgsOf<Params, Tensor>>[];
  /** Rules that rows cannot say. Returns the broken rule with the actual values, or undefined. Run by validation. */
  check?(args: CheckArgs<Params>, outputs: OutputsOf<Outputs, OperandInfo>): string | undefined;
  /** A later HAL version that these operands need, where it depends on more than their types. */
  since?(args: CheckArgs<Params>, outputs: OutputsOf<Outputs, OperandInfo>): HalVersion | undefined;
  /**
   * Output shapes from input shapes, and quantisation where the operation fixes it. All extents are known. `outputs`: what the
   * model declares of the outputs. Throws OperationError.
   */
  infer?(args: ArgsOf<Params, TensorInfo>, outputs: OutputsOf<Outputs, TensorInfo>): OutputsOf<Outputs, OutputInfo>;
  /**
   * Computes the outputs: plain loops, the definition of right. Throws OperationError. Unless the operation is `dynamic`,
   * at least one output has elements: where none has, there is nothing to compute, however large other extents are.
   */
  reference?(
    args: ArgsOf<Params, Tensor>,
    outputs: OutputsOf<Outputs, OutputTensor>,
    context: KernelContext,
  ): KernelResult;
}

/** Another way to write an operand list, that normalises to the arguments `Args` of the first form. */
export interface Alternative<Args> {
  readonly params: readonly Param[];
  readonly outputs?: readonly Param[];
  readonly types?: readonly TypeRow[];
  readonly counts?: readonly number[];
  readonly outputCounts?: readonly number[];
  normalise(args: AnyArgs): Partial<Args>;
  check?(args: AnyArgs, outputs: AnyArgs): string | undefined;
  since?(args: AnyArgs, outputs: AnyArgs): HalVersion | undefined;
}

/** Arguments of the first form: those that another form lacks or has as another type, and any more. */
type Added<First, Other> = Partial<First> & {
  readonly [Name in keyof First as Name extends keyof Other
    ? Other[Name] extends First[Name]
      ? never
      : Name
    : Name]: First[Name];
};

/** What `alternative` takes; outputs, types, check and since are the first form's where absent. */
export interface AlternativeSpec<Params extends readonly Param[], Args> {
  readonly params: Params;
  readonly outputs?: readonly Param[];
  readonly types?: readonly TypeRow[];
  readonly counts?: readonly number[];
  readonly outputCounts?: readonly number[];
  /** See `Form.normalise`. */
  normalise(args: ArgsOf<Params, Tensor>): Added<Args, ArgsOf<Params, Tensor>>;
  check?(args: CheckArgs<Params>, outputs: Readonly<Record<string, OperandInfo>>): string | undefined;
  since?(args: CheckArgs<Params>, outputs: Readonly<Record<string, OperandInfo>>): HalVersion | undefined;
}

/** Describes another way to write an operation's operand list. */
export function alternative<const Params extends readonly Param[], Args>(
  spec: AlternativeSpec<Params, Args>,
): Alternative<Args> {
  // Methods are bivariant: the engine only ever passes the record that `params` describes.
  return spec as Alternative<Args>;
}

/**
 * Defines an operation.
 *
 * The types of `infer`, `check` and `reference` follow from `params` and `outputs`; the result forgets them, so that all
 * operations are of one type.
 */
export function defineOperation<const Params extends readonly Param[], const Outputs extends readonly Param[]>(
  spec: OperationSpec<Params, Outputs>,
): Operation {
  const { name, code, summary, alternatives = [], ranks = {}, infer, reference } = spec;
  const first: AnySpec = spec as unknown as AnySpec;
  const firstForm: Form = {
    params: spec.params,
    outputs: spec.outputs,
    types: spec.types,
    ...(spec.counts && { counts: spec.counts }),
    ...(spec.outputCounts && { outputCounts: spec.outputCounts }),
    ...(first.check && { check: first.check }),
    ...(first.since && { since: first.since }),
  };
  const otherForms = alternatives.map((other: Alternative<unknown>): Form => {
    const { counts: _counts, outputCounts, ...inherited } = firstForm;
    return {
      ...inherited,
      ...(!other.outputs && outputCounts && { outputCounts }),
      ...(other as Alternative<AnyArgs>),
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
    ...(infer && { infer: first.infer }),
    ...(reference && { reference: spec.dynamic ? first.reference : whereElements(first.reference) }),
  };
}

/** A kernel that is left alone where no output has elements. */
function whereElements(kernel: Operation["reference"]): Operation["reference"] {
  return (args, outputs, context) => {
    const hasElements = Object.values(outputs)
      .flat()
      .some((output) => output !== undefined && output.data.length > 0);
    return hasElements ? kernel?.(args, outputs, context) : undefined;
  };
}

/** A spec whose methods take the erased records. */
type AnySpec = Pick<Form, "check" | "since"> & Pick<Operation, "infer" | "reference">;
