/**
 * A session on the devices of the machine: a port as to a worker, whose messages are requests to the program that serves the page.
 */
import { NetworkError, type Port } from "@nnhal/network";
import { messageOf } from "../text.ts";
import { decodeMessage, encodeMessage, messagesIn } from "../wire.ts";

/** Begins a session. */
export function portOfMachine(): Port {
  const address = `/api/session/${crypto.randomUUID()}`;
  let receive: (message: unknown) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const ask = async (message: unknown) => {
    const response = await fetch(address, { method: "POST", body: encodeMessage(message) });
    if (!response.ok || response.body === null)
      throw new Error((await response.text()).trim() || "nnhal studio has ended");
    for await (const reply of messagesIn(chunksOf(response.body))) receive(decodeMessage(reply));
  };
  return {
    post(message) {
      ask(message).catch((error: unknown) => {
        // As fetch says that there is no connection.
        const reason = error instanceof TypeError ? "nnhal studio cannot be reached: has it ended?" : messageOf(error);
        fail(new NetworkError("FAILED", reason, { cause: error }));
      });
    },
    listen(onMessage, onError) {
      receive = onMessage;
      fail = onError;
    },
    hold() {},
    letGo() {},
    end: async () => {},
  };
}

/** Not all browsers iterate streams. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
