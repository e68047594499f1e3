/** WAV files: mutants, and rates and sizes that cannot be. */
import { expectRefusal, mutantOf, readerSurface } from "../reader/reader.ts";

/** For 100 million samples, SECURITY.md states 4 bytes each, in addition to the file. */
const memory = 400_000_000 + 256 * 2 ** 20;

function wavOf(rate: number, samples: number): Uint8Array {
  const bytes = Buffer.alloc(44 + samples, 128);
  bytes.write("RIFF....WAVEfmt ");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(samples, 40);
  return new Uint8Array(bytes);
}

export const soundsSurface = readerSurface(
  { name: "sounds", says: "WAV files, read by a program", memory },
  ({ readBytes }) => [
    {
      name: "wav-mutants",
      async send(random) {
        for (let count = 0; count < 50; count++) await readBytes("sound", mutantOf(wavOf(8000, 50), random));
      },
    },
    {
      name: "wav-rates",
      async send() {
        for (const rate of [0, 1, 999, 768_001, 2 ** 32 - 1])
          expectRefusal(await readBytes("sound", wavOf(rate, 60_000)), /its rate is \d+ Hz/);
      },
    },
    {
      name: "wav-long",
      async send() {
        const result = await readBytes("sound", wavOf(8000, 20_000_000));
        if (typeof result === "string") throw new Error(result);
      },
    },
  ],
);
