/**
 * Messages between a session and its worker, and the memory that moves with them.
 */

import { buffersOf } from "./bytes.ts";
import type { NetworkErrorCode } from "./error.ts";
import type { OpeningSession, Stage } from "./local-session.ts";
import type { Session, Value } from "./session.ts";

/** Request to a session. */
export type Question =
  | { readonly ask: "open"; readonly bytes: Uint8Array; readonly options: OpeningSession }
  /** `target`: the question whose computation is to end. */
  | { readonly ask: "stop"; readonly target: number }
  | { readonly ask: Exclude<keyof Session, "description" | "imported">; readonly args: readonly unknown[] };

/** A message to the worker, and one from it. */
export type Request = Question & { readonly id: number };
export type Answer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly code: NetworkErrorCode;
      readonly message: string;
      readonly problems: readonly string[];
    }
  /** Steps of the comparison that the question asks for. */
  | { readonly id: number; readonly done: number; readonly total: number }
  | { readonly stage: Stage }
  | { readonly warning: string }
  | { readonly engineWarning: string };

/** The memory of values that have one of their own. */
export function wholeBuffers(values: readonly Value[]): readonly ArrayBuffer[] {
  return buffersOf(values.filter(({ bytes }) => bytes.buffer.byteLength === bytes.byteLength));
}
