/**
 * What a backend made of kernels says of itself: an engine that holds tensors as handles of its own, and one kernel for each
 * operation that it can run. `kernelBackend` does the rest.
 */
import type {
  AnyArgs,
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
import type { Steps } from "./steps.ts";

/** A tensor argument of a kernel. Its extents are known, and 0 is 0. */
export interface KernelTensor extends TensorInfo {
  /** Its operand's index in the subgraph. */
  readonly index: number;
  /** The elements, where they are known when the kernel is prepared: constants, and what shape inference has read. */
  readonly data?: TensorData;
}

/** Gives the handle of a tensor argument while a kernel runs. Handles it gives stay the graph's. */
export type ReadTensor<Handle> = (tensor: KernelTensor) => Handle;

/**
 * The result of a kernel: a new handle for each output, in the order of the operand list; or a promise of them; or, for a long
 * computation, a generator that returns them and yields every few milliseconds. At a yield the event loop may turn and other runs may
 * go on; if the run ends there, for example because its deadline has passed, the `finally` blocks of the generator are run. A generator
 * that yields a promise goes on when the promise has settled; see `awaited`.
 */
export type KernelOutcome<Handle> = readonly Handle[] | Promise<readonly Handle[]> | Steps<readonly Handle[]>;

/** A prepared kernel. May run many times, and several times at once if it is asynchronous or pauses. Throws OperationError. */
export type KernelRun<Handle> = (
  read: ReadTensor<Handle>,
  context: { readonly random: () => number },
) => KernelOutcome<Handle>;

/** What a kernel may use while it is prepared. */
export interface KernelSetup<Handle> {
  /** The handle of a tensor whose elements are known; undefined for others. It stays the graph's. */
  constant(tensor: KernelTensor): Handle | undefined;
  /** Hands over a handle that the prepared kernel needs: it is released with it. */
  keep(handle: Handle): Handle;
  /** Registers a function that is called when the prepared kernel is no longer needed. */
  onClose(close: () => void): void;
  /** Registers a function that frees memory which the next run can build again. It is called when the model is idle. */
  onIdle(release: () => void): void;
  /** What the kernel does to its output before it gives it, in order. Not empty only for kernels that `leads`. */
  readonly following: readonly Following[];
}

/** An element by element operation that is computed at the end of the kernel before it, whose output nobody else reads. */
export interface Following {
  /** The name of the operation. */
  readonly name: string;
  /** As for `Kernel.prepare`. */
  readonly args: AnyArgs;
  readonly outputs: AnyArgs;
  /** The index of the operand that is what was computed so far. It has the shape of the output. */
  readonly chained: number;
}

/**
 * How an engine runs one operation. `Args` and `Outputs` are what it is prepared with, `Seen` and `SeenOutputs` what it may refuse:
 * see `KernelFor`. By default they are those of any operation.
 *
 * Its functions are properties, not methods: the compiler then refuses a kernel that needs an argument which the operation lacks.
 */
export interface Kernel<Handle, Args = AnyArgs, Outputs = AnyArgs, Seen = AnyArgs, SeenOutputs = AnyArgs> {
  /**
   * Why these operands cannot be computed; undefined where they can. The arguments are those of the matched form, by name, as
   * the operation's `check` sees them: extents may be unknown (0), the rank too ([]), scalars that are no constants undefined.
   */
  readonly refuse?: (args: Seen, outputs: SeenOutputs) => string | undefined;
  /** How many computations of the engine it takes: see `Support`. Arguments are as for `refuse`. Default: 1. */
  readonly dispatches?: (args: Seen, outputs: SeenOutputs) => number;
  /**
   * Does what shapes and constants allow ahead of time. Arguments are those of the operation's first form, by name, and each
   * tensor is a `KernelTensor`; outputs are as shape inference and the model settle them. Throws OperationError.
   */
  readonly prepare: (args: Args, outputs: Outputs, setup: KernelSetup<Handle>) => KernelRun<Handle>;
  /** Whether operations may follow in it: it has one output, and looks at `setup.following`. Default: no. */
  readonly leads?: boolean;
  /** Whether the operation may follow another in its kernel; `chained` is as in `Following`. Default: no. */
  readonly follows?: (args: Args, outputs: Outputs, chained: number) => boolean;
}

/** The kernel of an operation, or one that serves several: it knows their arguments and outputs by name. */
export type KernelFor<Name extends OperationName, Handle> = Kernel<
  Handle,
  OperationArgs<Name, KernelTensor>,
  OperationOutputs<Name>,
  FormArgs<Name>,
  OperationOutputs<Name, OperandInfo>
>;

/** Kernels by the names of their operations. An extension adds its operations to the interface `OperationTypes`. */
export type KernelTable<Handle> = { readonly [Name in OperationName]?: KernelFor<Name, Handle> | undefined };

/** The kernels of a table without the types of their arguments, for code that treats all of them alike. */
export function kernelsByName<Handle>(
  table: KernelTable<Handle>,
): Readonly<Record<string, Kernel<Handle> | undefined>> {
  // What stands under a name is only ever given the arguments of the operation of that name.
  return table as Readonly<Record<string, Kernel<Handle> | undefined>>;
}

/** The kernel of an operation; undefined if there is none. For engines that need no table, because the definition says it all. */
export type KernelOf<Handle> = (operation: Operation) => Kernel<Handle> | undefined;

/** An engine at work. */
export interface KernelEngine<Handle> {
  /** See `BackendSession.version`. */
  readonly version: string;
  readonly capabilities: Capabilities;
  /** See `BackendSession.powerBasis`. */
  readonly powerBasis?: PowerBasis;
  /** See `BackendSession.deviceType`. */
  readonly deviceType?: DeviceType;
  /** See `BackendSession.missing`. */
  readonly missing?: readonly Unavailable[];
  readonly kernels: KernelTable<Handle> | KernelOf<Handle>;
  /**
   * Whether handles live in the memory of the process: nothing is gained if a value stays in the engine from one execution to the
   * next, so `upload` may keep the elements, and device memory lies in plain bytes. Default: no.
   */
  readonly isHost?: boolean;
  /** Whether a model is run on zeros when it is prepared, so that its first execution is like any other. Default: yes. */
  readonly warmsUp?: boolean;
  /**
   * The extents of a handle that a kernel has made. Only for engines with kernels of operations whose output shapes depend on the
   * data (`Operation.dynamic`): their outputs are prepared with the extents that shape inference knows, 0 being unknown.
   */
  extentsOf?(handle: Handle): readonly number[];
  /** Makes a handle of elements. They may change when the call has returned, unless `isHost`. */
  upload(info: TensorInfo, data: TensorData): Handle;
  /** The elements of a handle, in the typed array of the type. The handle is not released before the answer. */
  download(handle: Handle, info: TensorInfo): TensorData | Promise<TensorData>;
  release(handle: Handle): void;
  /** Frees memory that is kept for the next run. Called when a model is idle. Default: nothing is kept. */
  releaseScratch?(): void;
  /** Frees the engine. All handles have been released. */
  close(): void | Promise<void>;
}
