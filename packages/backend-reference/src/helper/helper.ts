/**
 * A thread that helps to compute: it takes ranges of the last phase of a kernel, and computes all phases before for itself. It sleeps when there is
 * nothing to do; `division.ts` has the other side, and `words.ts` says what the numbers mean.
 */
import {
  type AnyArg,
  elementAt,
  type Operation,
  type Phase,
  phasesOf,
  runToEnd,
  type Tensor,
  type TensorData,
} from "@nnhal/operations";
import { loadLibrary, tfliteName } from "./library.ts";
import type { KernelMessage, Numbered, Slot } from "./messages.ts";
import { mostRanges, words } from "./words.ts";

/** Looks for a range before a thread sleeps: about a millisecond, which is longer than the pauses between the kernels of a run. */
const looks = 30_000;

interface Known extends KernelMessage {
  readonly operation: Operation;
  readonly widened: Map<TensorData, Float64Array>;
}

/** The operation of a kernel. Rejects if it cannot be loaded. */
async function find({ code, extension }: KernelMessage): Promise<Operation> {
  const library = await loadLibrary(extension === undefined ? [code] : [], extension === tfliteName);
  const operation = library(code, extension);
  if (operation === undefined) throw new Error(`the library has no operation ${code}`);
  return operation;
}

/** Creates the receiver of a thread's messages. `begun`: called when it can help. */
export function createHelper(begun: () => void): (message: Numbered) => Promise<void> {
  const kernels = new Map<number, Known>();
  const pieces = new Map<number, TensorData>();
  let control: Int32Array = new Int32Array(0);
  let command = 0;
  let received: Promise<void> = Promise.resolve();
  let current: { readonly task: number; readonly phase: Phase } | undefined;

  async function take(message: Numbered): Promise<void> {
    switch (message.kind) {
      case "begin":
        control = message.control;
        begun();
        break;
      case "kernel":
        kernels.set(message.id, { ...message, operation: await find(message), widened: new Map() });
        break;
      case "widened": {
        const { widened, inputs } = kernels.get(message.id) ?? {};
        const data = inputs?.[message.input]?.constant;
        if (data !== undefined) widened?.set(data, message.wide);
        break;
      }
      case "narrow":
        kernels.get(message.id)?.widened.clear();
        current = undefined;
        break;
      case "drop":
        kernels.delete(message.id);
        current = undefined;
        break;
      case "piece":
        pieces.set(message.id, message.data);
        break;
      case "forget":
        pieces.delete(message.id);
    }
  }

  /** Computes until there is a message. */
  function help(): void {
    for (let look = 0; ; look++) {
      const signal = Atomics.load(control, words.signal);
      if (Atomics.load(control, words.command) !== command) return;
      const left = Atomics.load(control, words.left);
      const kernel = kernels.get(elementAt(control, words.kernel));
      if ((left & mostRanges) > 0 && kernel !== undefined) {
        if (Atomics.compareExchange(control, words.left, left, left - 1) === left)
          computeRange(kernel, left & mostRanges);
        look = 0;
      } else if (look > looks) {
        Atomics.add(control, words.sleeping, 1);
        Atomics.wait(control, words.signal, signal);
        Atomics.sub(control, words.sleeping, 1);
        look = 0;
      }
    }
  }

  function computeRange(kernel: Known, range: number): void {
    try {
      const task = elementAt(control, words.task);
      if (current?.task !== task) current = { task, phase: lastPhaseOf(kernel) };
      const perRange = elementAt(control, words.perRange);
      const first = elementAt(control, words.begin) + (range - 1) * perRange;
      current.phase.compute(first, Math.min(first + perRange, elementAt(control, words.end)));
    } catch {
      // The first thread computes all of it again, and has the error itself.
      Atomics.store(control, words.failed, 1);
    }
    Atomics.add(control, words.done, 1);
    if (Atomics.load(control, words.waiting) > 0) Atomics.notify(control, words.done);
  }

  /** The last phase of a kernel, after all others. */
  function lastPhaseOf({ operation, args, inputs, outputs, widened }: Known): Phase {
    let place: number = words.pieces;
    const tensorOf = ({ info, constant }: Slot): Tensor => {
      const data = constant ?? pieces.get(elementAt(control, place++));
      if (data === undefined) throw new Error("there is no such piece of memory");
      return { ...info, data };
    };
    const record = (slots: readonly Slot[], others: Readonly<Record<string, AnyArg | undefined>>) => {
      const named: Record<string, unknown> = { ...others };
      for (const slot of slots) {
        const tensor = tensorOf(slot);
        const { [slot.name]: before } = named;
        named[slot.name] = slot.isListed ? [...(Array.isArray(before) ? before : []), tensor] : tensor;
      }
      // These are the arguments of the operation, as its executor has bound them.
      return named as Record<string, never>;
    };
    const context = {
      random: () => 0,
      widened: {
        get: (data: TensorData) => widened.get(data),
        accepts: (data: TensorData) => widened.has(data),
        set() {},
      },
    };
    const work = operation.reference?.(record(inputs, args), record(outputs, {}), context);
    const phases = phasesOf(work);
    runToEnd(phases.slice(0, -1));
    return elementAt(phases, phases.length - 1);
  }

  return (message) => {
    received = received
      .then(() => take(message))
      // A kernel that cannot be loaded is computed by the others.
      .catch(() => {})
      .then(() => {
        ({ command } = message);
        help();
      });
    return received;
  };
}
