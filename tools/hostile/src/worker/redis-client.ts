/** A client of Redis that sends given commands, and waits for one answer after the other. */
import { connect } from "node:net";

export interface RedisClient {
  /** Sends a command. Resolves with a text or a number as a text; undefined if there is none. Rejects with what Redis refuses. */
  ask(...words: readonly (string | Buffer)[]): Promise<string | undefined>;
  close(): void;
}

/** Connects to the socket of a Redis. */
export async function openRedis(path: string): Promise<RedisClient> {
  const socket = connect(path);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.on("error", () => {});
  const waiting: ((answer: string) => void)[] = [];
  let text = "";
  socket.setEncoding("latin1").on("data", (part) => {
    text += part;
    for (let length = lengthOf(text); length !== undefined; length = lengthOf(text)) {
      waiting.shift()?.(text.slice(0, length));
      text = text.slice(length);
    }
  });
  return {
    async ask(...words) {
      const answer = await new Promise<string>((resolve) => {
        waiting.push(resolve);
        socket.write(`*${words.length}\r\n`);
        for (const word of words) {
          socket.write(`$${Buffer.byteLength(word)}\r\n`);
          socket.write(word);
          socket.write("\r\n");
        }
      });
      if (answer.startsWith("-")) throw new Error(answer.slice(1).trimEnd());
      if (!answer.startsWith("$")) return answer.slice(1).trimEnd();
      return answer.startsWith("$-1") ? undefined : answer.slice(answer.indexOf("\r\n") + 2, -2);
    },
    close: () => void socket.destroy(),
  };
}

/**
 * Returns the number of characters of the first answer: of a line, or of a line and a text; undefined: it has not arrived yet.
 */
function lengthOf(text: string): number | undefined {
  const end = text.indexOf("\r\n");
  if (end < 0) return undefined;
  const size = text.startsWith("$") ? Number(text.slice(1, end)) : -1;
  const length = end + 2 + (size < 0 ? 0 : size + 2);
  return text.length < length ? undefined : length;
}
