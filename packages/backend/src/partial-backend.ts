/** A backend that takes a part of the operations of another one, and reports its own figures. */
import type { Capabilities } from "@nnhal/types";
import type { Backend, BackendSession } from "./contract.ts";
import type { OperationView } from "./graph.ts";

/** Differences from the whole backend. */
export interface BackendPart {
  /** Lower case letters and digits. Default: that of the whole. */
  readonly name?: string | undefined;
  /** Default: that of the whole. */
  readonly version?: string | undefined;
  /** Default: those of the whole. */
  readonly capabilities?: Capabilities | undefined;
  /**
   * Returns why an operation that the whole supports is not taken; undefined if it is. For IF and WHILE it is asked about each operation
   * inside separately.
   */
  whyNot(operation: OperationView): string | undefined;
}

/**
 * A part of a backend: a device over it refuses models with other operations, as if the engine did not have them.
 */
export function partialBackend(whole: Backend, { name = whole.name, whyNot, ...facts }: BackendPart): Backend {
  return {
    name,
    deviceType: whole.deviceType,
    async open(options) {
      const session = await whole.open(options);
      return "unavailable" in session ? session : partOf(session, { whyNot, ...facts });
    },
  };
}

function partOf(session: BackendSession, part: Omit<BackendPart, "name">): BackendSession {
  const { version = session.version, capabilities = session.capabilities, whyNot } = part;
  return {
    ...session,
    version,
    capabilities,
    supports(operation, referenced) {
      const support = session.supports(operation, referenced);
      if (!support.supported) return support;
      const reason = whyNot(operation);
      return reason === undefined ? support : { supported: false, reason };
    },
  };
}
