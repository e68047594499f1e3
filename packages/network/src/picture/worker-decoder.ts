/**
 * Entry of a thread of Node.js that decodes one picture. It contains nothing that starts threads: bundlers would put it into itself.
 */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../text.ts";
import type { DecodingAnswer, DecodingRequest } from "./decoding-messages.ts";
import { announcePicture } from "./formats.ts";

if (parentPort !== null) {
  const port = parentPort;
  const answer = (message: DecodingAnswer, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, transfer);
  // Its only question is that of `decodeApart`.
  port.once("message", async ({ bytes, wanted }: DecodingRequest) => {
    try {
      const picture = await announcePicture(bytes, wanted).decode();
      const { buffer } = picture.data;
      answer({ picture }, buffer instanceof ArrayBuffer ? [buffer] : []);
    } catch (error) {
      answer({ problem: messageOf(error) });
    }
  });
  answer("loaded");
}
