/**
 * The parts of a backend of kernels: an engine that represents tensors by handles, and a kernel for each operation that it
 * can run. `kernelBackend` does the rest.
 */
import type {
  AnyArgs,
  AnyTensorData,
  DefinitionArgs,
  DefinitionFormArgs,
  DefinitionOutputs,
  ExtensionDefinition,
  FormArgs,
  OperandInfo,
  Operation,
  OperationArgs,
  OperationName,
  OperationOutputs,
  TensorData,
  TensorInfo,
} from "@nnhal/operations";
import type { Capabilities, DeviceType } from "@nnhal/types";
import type { PowerBasis } from "../capabilities.ts";
import type { Unavailable } from "../contract.ts";
import type { FormChoice } from "../self-check.ts";
import type { Steps } from "./steps.ts";

/** A tensor argument of a kernel. Its extents are known: 0 means that the tensor is empty. */
export interface KernelTensor<Data extends AnyTensorData = TensorData> extends TensorInfo {
  /** Its operand's index in the subgraph. */
  readonly index: number;
  /** The elements, if they are known when the kernel is prepared: constants, and tensors that shape inference has read. */
  readonly data?: Data;
}

/** Returns the handle of a tensor argument while a kernel runs. The graph owns the handle. */
export type ReadTensor<Handle> = (tensor: KernelTensor<AnyTensorData>) => Handle;

/**
 * The result of a kernel: a new handle for each output, in the order of the operand list; or a promise of them; or, for a long
 * computation, a generator that returns them and yields every few milliseconds. At a yield the event loop may turn and other runs may
 * go on; if the run ends there, for example because its deadline has passed, the `finally` blocks of the generator are run. A generator
 * that yields a promise goes on when the promise has settled; see `awaited`.
 */
export type KernelOutcome<Handle> = readonly Handle[] | Promise<readonly Handle[]> | Steps<readonly Handle[]>;

/** A prepared kernel. It may run many times, and several times concurrently if it is asynchronous or pauses. Throws OperationError. */
export type KernelRun<Handle> = (
  read: ReadTensor<Handle>,
  context: { readonly random: () => number },
) => KernelOutcome<Handle>;

/** Services for a kernel while it is prepared. */
export interface KernelSetup<Handle> {
  /** The handle of a constant; undefined for other tensors. The graph owns the handle. */
  constant(tensor: KernelTensor<AnyTensorData>): Handle | undefined;
  /** Passes ownership of a handle to the prepared kernel: it is released when the kernel is closed. Returns the handle. */
  keep(handle: Handle): Handle;
  /** Registers a function that is called when the prepared kernel is closed. */
  onClose(close: () => void): void;
  /** Registers a function that frees memory which the next run can allocate again. It is called when the model is idle. */
  onIdle(release: () => void): void;
  /** Operations that the kernel applies to its output, in order. Empty unless the kernel `leads`. */
  readonly following: readonly Following[];
}

/** An elementwise operation that is computed at the end of the kernel before it, because no other operation reads that kernel's output. */
export interface Following {
  /** The name of the operation. */
  readonly name: string;
  /** As for `Kernel.prepare`. */
  readonly args: AnyArgs;
  readonly outputs: AnyArgs;
  /** The index of the operand whose value is the result so far. It has the shape of the output. */
  readonly chained: number;
}

/**
 * The implementation of one operation on an engine. `Args` and `Outputs` are the arguments of `prepare`, `Seen` and
 * `SeenOutputs` those of `refuse`: see `KernelFor`. The defaults fit any operation.
 *
 * Its functions are properties, not methods: the compiler then refuses a kernel that needs an argument which the operation lacks.
 */
export interface Kernel<Handle, Args = AnyArgs, Outputs = AnyArgs, Seen = AnyArgs, SeenOutputs = AnyArgs> {
  /**
   * The reason why the operation cannot run with these operands; undefined if it can. The arguments are those of the matched form, by name,
   * as for the operation's `check`: an unknown extent is 0, an unknown rank [], and a scalar that is not constant is undefined.
   */
  readonly refuse?: (args: Seen, outputs: SeenOutputs) => string | undefined;
  /** The number of computations of the engine: see `Support`. The arguments are those of `refuse`. Default: 1. */
  readonly dispatches?: (args: Seen, outputs: SeenOutputs) => number;
  /**
   * Does all work that depends on shapes and constants only. The arguments are those of the operation's first form, by name, and each
   * tensor is a `KernelTensor`; the outputs have the shapes that shape inference and the model determine. Throws OperationError.
   */
  readonly prepare: (args: Args, outputs: Outputs, setup: KernelSetup<Handle>) => KernelRun<Handle>;
  /**
   * True if other operations may follow in this kernel: it has one output, and applies `setup.following`. Default:
   * false.
   */
  readonly leads?: boolean;
  /**
   * Returns whether the operation may follow another one in that one's kernel; `chained` as in `Following`. Default:
   * false.
   */
  readonly follows?: (args: Args, outputs: Outputs, chained: number) => boolean;
}

/** The kernel of one operation, or of several. Their arguments and outputs are known by name. */
export type KernelFor<Name extends OperationName, Handle> = Kernel<
  Handle,
  OperationArgs<Name, KernelTensor>,
  OperationOutputs<Name>,
  FormArgs<Name>,
  OperationOutputs<Name, OperandInfo>
>;

/** Kernels by the names of their operations. */
export type KernelTable<Handle> = { readonly [Name in OperationName]?: KernelFor<Name, Handle> | undefined };

/** The kernels of a table without the types of their arguments, for code that treats all of them alike. */
export function kernelsByName<Handle>(
  table: KernelTable<Handle>,
): Readonly<Record<string, Kernel<Handle> | undefined>> {
  // A kernel is only called with the arguments of the operation that it is listed under.
  return table as Readonly<Record<string, Kernel<Handle> | undefined>>;
}

/** The kernel of a definition's operation, such as one of an extension. */
export type KernelOfDefinition<Defined extends Operation, Handle> = Kernel<
  Handle,
  DefinitionArgs<Defined, KernelTensor>,
  DefinitionOutputs<Defined, TensorInfo>,
  DefinitionFormArgs<Defined>,
  DefinitionOutputs<Defined, OperandInfo>
>;

/** Kernels of operations of an extension by their names: `ExtensionKernelTable<typeof fibonacci, Handle>`. */
export type ExtensionKernelTable<Extended extends ExtensionDefinition, Handle> = {
  readonly [Defined in Extended["operations"][number] as Defined["name"]]?:
    | KernelOfDefinition<Defined, Handle>
    | undefined;
};

/** An extension, and an engine's kernels for its operations: see `extensionKernels`. */
export interface ExtensionKernels<Handle> {
  readonly extension: ExtensionDefinition;
  readonly kernels: KernelOf<Handle>;
}

/** The kernels of an engine for an extension, from a table that the compiler has checked against the extension's operations. */
export function extensionKernels<Extended extends ExtensionDefinition, Handle>(
  extension: Extended,
  table: ExtensionKernelTable<Extended, Handle>,
): ExtensionKernels<Handle> {
  // A kernel is only called with the arguments of the operation that it is listed under.
  const kernels = table as Readonly<Record<string, Kernel<Handle> | undefined>>;
  return { extension, kernels: ({ name }) => (Object.hasOwn(kernels, name) ? kernels[name] : undefined) };
}

/** Returns the kernel of an operation; undefined if there is none. For engines that derive kernels from definitions. */
export type KernelOf<Handle> = (operation: Operation) => Kernel<Handle> | undefined;

/** An open engine. */
export interface KernelEngine<Handle> {
  /** See `BackendSession.version`. */
  readonly version: string;
  readonly capabilities: Capabilities;
  /** See `BackendSession.powerBasis`. */
  readonly powerBasis?: PowerBasis;
  /** See `BackendSession.choices`. */
  readonly choices?: readonly FormChoice[];
  /** See `BackendSession.deviceType`. */
  readonly deviceType?: DeviceType;
  /** See `BackendSession.missing`. */
  readonly missing?: readonly Unavailable[];
  readonly kernels: KernelTable<Handle> | KernelOf<Handle>;
  /** The vendor extensions that the engine has kernels for. Default: none. */
  readonly extensions?: readonly ExtensionKernels<Handle>[] | undefined;
  /** OEM_OPERATION and its kernel. Default: the operation is not supported. */
  readonly oem?: { readonly operation: Operation; readonly kernel: Kernel<Handle> } | undefined;
  /**
   * True if handles are in the memory of the process. `upload` may then keep the elements, and device memory is plain
   * bytes, since a value gains nothing from staying in the engine between executions. Default: false.
   */
  readonly isHost?: boolean;
  /**
   * True if a model runs on zeros when it is prepared, so that its first execution is as fast as the others. Default:
   * true.
   */
  readonly warmsUp?: boolean;
  /**
   * The extents of a handle that a kernel has created. Only for engines with kernels of operations whose output shapes depend on the data
   * (`Operation.dynamic`). These are prepared with the extents that shape inference knows; 0 is unknown.
   */
  extentsOf?(handle: Handle): readonly number[];
  /**
   * Creates a handle from elements. They may change after the call has returned, unless `isHost`. Those of an extension's type with 64-bit
   * integers are a BigInt64Array or a BigUint64Array.
   */
  upload(info: TensorInfo, data: TensorData): Handle;
  /** The elements of a handle, in the typed array of the type. The handle is not released before the result has settled. */
  download(handle: Handle, info: TensorInfo): AnyTensorData | Promise<AnyTensorData>;
  release(handle: Handle): void;
  /** Frees memory that is kept for the next run. Called when a model is idle. Default: no memory is kept. */
  releaseScratch?(): void;
  /** Frees the engine. All handles have been released. */
  close(): void | Promise<void>;
}
