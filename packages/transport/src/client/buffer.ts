/**
 * The buffers of services. Each service counts its tokens from 1. Those that clients get are counted in this process, so that a buffer of a
 * service that was lost is not taken for one of the service in its place.
 */
import { createBufferTracker } from "@nnhal/driver-core/memory";
import { type AllocateResult, ErrorStatus, type IBuffer } from "@nnhal/types";
import { deadObject } from "../protocol/connection.ts";
import { buffer as bufferMethods } from "../protocol/methods.ts";
import { Refused } from "../protocol/refused.ts";
import { wholeUse } from "./arguments.ts";
import { callWith } from "./call.ts";
import type { Session } from "./session.ts";

const tokens = createBufferTracker<IBuffer>();
const places = new WeakMap<IBuffer, { readonly session: Session; readonly token: number }>();

/** A buffer of the service of a session, and its token here. `token`: the service's. */
export function remoteBuffer(session: Session, id: number, token: number): Pick<AllocateResult, "buffer" | "token"> {
  let isClosed = false;
  const buffer: IBuffer = {
    async copyTo(memory) {
      const { outcome } = await callWith(session, bufferMethods.copyTo, id, () => ({
        given: { memory: session.memories.idOf(memory) },
        use: wholeUse(memory, "write", session.memories),
      }));
      return outcome;
    },
    async copyFrom(memory, dimensions) {
      const { outcome } = await callWith(session, bufferMethods.copyFrom, id, () => ({
        given: { memory: session.memories.idOf(memory), dimensions },
        use: wholeUse(memory, "read", session.memories),
      }));
      return outcome;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      tokens.remove(buffer);
      session.release(buffer, id);
    },
  };
  session.track(buffer, id);
  places.set(buffer, { session, token });
  return { buffer, token: tokens.add(buffer) };
}

/** The service's token of a buffer, by that of this side. Throws Refused if the buffer is none of the session's service. */
export function serviceToken(session: Session, token: number): number {
  const buffer = tokens.get(token);
  const place = buffer && places.get(buffer);
  if (place?.session === session) return place.token;
  const over = place?.session.connection.over;
  if (over === undefined)
    throw new Refused(ErrorStatus.INVALID_ARGUMENT, "a token is not that of a buffer of the device");
  const { status, message } = deadObject(`the service that had a buffer is gone: ${over}`);
  throw new Refused(status, message);
}
