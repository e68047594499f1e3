/**
 * A station in a child process: both sides. The child is this program with `bench --serve`, so that contestants do not share memory,
 * threads, flags or names, and one that crashes takes no other with it.
 */
import type { ChildProcess } from "node:child_process";
import type { Footprint, Opened, Prepared, Refused, Station, Turn } from "./station.ts";
import type { WarmUp } from "./warm-up.ts";

const methods = ["open", "prepare", "warmUp", "run", "finish", "close"] as const;
type Method = (typeof methods)[number];

interface Call {
  readonly method: Method;
  readonly argument: number;
}

/** Answer of the child: a value as JSON in which arrays of bytes are texts, or why there is none. */
type Answer = { readonly value: string } | { readonly error: string };

const bytesKey = "base64";

/** A value as JSON. */
export function encode(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof Uint8Array ? { [bytesKey]: Buffer.from(one).toString("base64") } : one,
  );
}

/** The value of a text that `encode` has made. */
export function decode(text: string): unknown {
  return JSON.parse(text, (_, one: unknown) => {
    const isBytes = one instanceof Object && bytesKey in one && typeof one[bytesKey] === "string";
    return isBytes ? new Uint8Array(Buffer.from(String(one[bytesKey]), "base64")) : one;
  });
}

/** The parent's side. Each call sends one message and waits for its answer. */
export function createChildStation(child: ChildProcess, title: string): Station {
  let settle: ((answer: Answer) => void) | undefined;
  let gone: string | undefined;
  const end = (reason: string) => {
    gone ??= reason;
    settle?.({ error: gone });
  };
  child.on("message", (answer) => settle?.(answer as Answer)); // The other side of this file sends nothing else.
  child.once("error", (error) => end(`the process of ${title} could not be started: ${error.message}`));
  child.once("exit", (code, signal) => end(`the process of ${title} ended with ${signal ?? `the code ${code}`}`));
  const call = async <Result>(method: Method, argument = 0): Promise<Result> => {
    const answer = await new Promise<Answer>((resolve) => {
      settle = resolve;
      if (gone === undefined) child.send({ method, argument } satisfies Call);
      else resolve({ error: gone });
    });
    if ("error" in answer) throw new Error(answer.error);
    return decode(answer.value) as Result; // What the same method of a station has returned in the child.
  };
  return {
    open: () => call<Opened>("open"),
    prepare: () => call<Prepared | Refused>("prepare"),
    warmUp: () => call<WarmUp>("warmUp"),
    run: (count) => call<Turn>("run", count),
    finish: () => call<Footprint>("finish"),
    async close() {
      if (gone === undefined) child.kill("SIGKILL");
    },
  };
}

/** The process around a child's side. */
export interface Parent {
  on(event: "message", listener: (call: unknown) => void): unknown;
  once(event: "disconnect", listener: () => void): unknown;
  send?(answer: Answer): unknown;
}

/** The child's side: answers calls until the parent goes away. */
export function serveStation(station: Station, parent: Parent): Promise<void> {
  const answerTo = async (call: Call): Promise<Answer> => {
    try {
      return { value: encode((await station[call.method](call.argument)) ?? null) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  return new Promise((resolve) => {
    parent.once("disconnect", resolve);
    parent.on("message", async (call) => {
      if (isCall(call)) parent.send?.(await answerTo(call));
    });
  });
}

function isCall(value: unknown): value is Call {
  if (!(value instanceof Object) || !("method" in value) || !("argument" in value)) return false;
  return methods.some((method) => method === value.method) && typeof value.argument === "number";
}
