/**
 * Child processes that run this program. They end with this process, however it ends and even if they are busy.
 */
import { type ChildProcess, fork } from "node:child_process";
import { constants } from "node:os";

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The signals at which a command can end in its own way: Ctrl-C, and the one with which others end processes. */
const interruptions = ["SIGINT", "SIGTERM"] as const;

/** Lets a command end in its own way. */
export interface Interrupts {
  /** See `CommandContext.onInterrupt`. */
  onInterrupt(listener: () => void): () => void;
  /** True if there is a listener, or one has just been called, so that no other code should end the process at an interruption. */
  isHandled(): boolean;
}

type Interruption = (typeof interruptions)[number];

/** Where signals come from, such as process. */
export interface SignalSource {
  on(event: Interruption, listener: () => void): unknown;
  off(event: Interruption, listener: () => void): unknown;
}

/** Listens to interruptions for as long as a command wants to. */
export function createInterrupts(events: SignalSource = process): Interrupts {
  let handled = false;
  return {
    onInterrupt(listener) {
      const onSignal = () => {
        // Other listeners of the same signal still have to see that it was handled; the next one ends the process.
        setImmediate(stop);
        listener();
      };
      const stop = () => {
        handled = false;
        for (const signal of interruptions) events.off(signal, onSignal);
      };
      handled = true;
      for (const signal of interruptions) events.on(signal, onSignal);
      return stop;
    },
    isHandled: () => handled,
  };
}

/** Options of starting children. */
export interface ChildOptions {
  /** Options of Node.js. Default: those of this process. */
  readonly execArgv?: readonly string[] | undefined;
  /** True if this process reads the output of the child; else it goes to stderr. Default: false. */
  readonly isRead?: boolean | undefined;
}

/** A function that starts the program in `file` as a child with an IPC channel. */
export function createChildStarter(
  file: string,
  { isHandled }: Pick<Interrupts, "isHandled"> = { isHandled: () => false },
  { execArgv = process.execArgv, isRead = false }: ChildOptions = {},
): (args: readonly string[]) => ChildProcess {
  const running = new Set<ChildProcess>();
  const endAll = () => {
    // A child that computes does not notice that its parent is gone.
    for (const child of running) child.kill("SIGKILL");
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const isInterruption = interruptions.some((one) => one === signal);
    if (!isInterruption || !isHandled()) process.exit(128 + constants.signals[signal]);
  };
  const listen = () => {
    process.on("exit", endAll);
    for (const signal of endings) process.on(signal, onSignal);
  };
  // Without children, signals end this process as they always do, even while it computes.
  const stopListening = () => {
    process.off("exit", endAll);
    for (const signal of endings) process.off(signal, onSignal);
  };
  return (args) => {
    // Texts that engines print while they load do not belong into results: they go to stderr.
    const child = fork(file, args, { execArgv: [...execArgv], stdio: ["ignore", isRead ? "pipe" : 2, 2, "ipc"] });
    if (running.size === 0) listen();
    running.add(child);
    const forget = () => {
      if (running.delete(child) && running.size === 0) stopListening();
    };
    child.once("exit", forget);
    child.once("error", forget);
    return child;
  };
}
