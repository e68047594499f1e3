/** The program that reads files, from outside: questions, answers, and a surface of kinds of files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromSource } from "@nnhal/test-kit/from-source";
import { startProgram } from "@nnhal/test-kit/processes";
import { sourceOf } from "../programs.ts";
import { heapLimit, type Kind, type Surface } from "../surface.ts";
import { residentOf } from "../watch.ts";

/** Request to read a file. */
export interface ReaderQuestion {
  readonly id: number;
  readonly read: "nothing" | "picture" | "sound" | "model";
  readonly path: string;
  /** A folder for prepared models; the model is run then. */
  readonly cache?: string;
}

/** Numbers that describe the file, or why it was not read. */
export interface ReaderAnswer {
  readonly id: number;
  readonly result?: readonly number[];
  readonly problem?: { readonly name: string; readonly message: string };
}

/** The program, for kinds of files. */
export interface Reader {
  /** A folder for files. */
  readonly folder: string;
  /**
   * Resolves with numbers that describe the file, or with the message of a NetworkError. Rejects if there was another error.
   */
  read(question: Omit<ReaderQuestion, "id">): Promise<readonly number[] | string>;
  /** The same of bytes, as a file. */
  readBytes(read: ReaderQuestion["read"], bytes: Uint8Array): Promise<readonly number[] | string>;
}

/** A surface whose input are files. `memory`: bytes that reading may take. */
export function readerSurface(
  { name, says, memory }: Pick<Surface, "name" | "says"> & { readonly memory: number },
  kindsOf: (reader: Reader) => readonly Kind[],
): Surface {
  return {
    name,
    says,
    async start() {
      const folder = mkdtempSync(join(tmpdir(), "nnhal-hostile-"));
      const heap = `--max-old-space-size=${heapLimit}`;
      const program = startProgram(process.execPath, [heap, ...fromSource, sourceOf("reader/program.ts")], {
        ipc: true,
      });
      const { child } = program;
      const waiting = new Map<number, (answer: ReaderAnswer) => void>();
      child.on("message", (answer: ReaderAnswer) => {
        waiting.get(answer.id)?.(answer);
        waiting.delete(answer.id);
      });
      child.on("exit", () => {
        for (const [id, resolve] of waiting) resolve({ id, result: [] });
      });
      await program.says("ready");
      let next = 0;
      const ask = (question: Omit<ReaderQuestion, "id">) =>
        new Promise<ReaderAnswer>((resolve) => {
          const id = next++;
          waiting.set(id, resolve);
          child.send({ ...question, id } satisfies ReaderQuestion, () => {});
        });
      const read: Reader["read"] = async (question) => {
        const { result = [], problem } = await ask(question);
        if (problem === undefined) return result;
        if (problem.name !== "NetworkError") throw new Error(`threw ${problem.name}: ${problem.message}`);
        if (/[\n\r]/.test(problem.message)) throw new Error(`has a message of several lines: ${problem.message}`);
        return problem.message;
      };
      const readBytes: Reader["readBytes"] = (what, bytes) => {
        const path = join(folder, `${next}.bin`);
        writeFileSync(path, bytes);
        return read({ read: what, path }).finally(() => rmSync(path, { force: true }));
      };
      await ask({ read: "nothing", path: "" });
      return {
        program,
        memoryLimit: (residentOf(child.pid) ?? 0) + memory,
        async ask() {
          await ask({ read: "nothing", path: "" });
        },
        kinds: kindsOf({ folder, read, readBytes }),
        async close() {
          child.kill("SIGKILL");
          await program.ended;
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Bytes with some of them changed, left out, repeated, or cut off. */
export function mutantOf(bytes: Uint8Array, random: () => number): Uint8Array {
  const at = (length: number) => Math.floor(random() * length);
  const mutant = bytes.slice();
  for (let change = at(6); change >= 0; change--) mutant[at(mutant.length)] = random() < 0.3 ? 255 : at(256);
  const kind = random();
  if (kind < 0.2) return mutant.subarray(0, at(mutant.length));
  if (kind < 0.4) {
    const [from, to] = [at(mutant.length), at(mutant.length)];
    return Uint8Array.from([...mutant.subarray(0, from), ...mutant.subarray(to)]);
  }
  return mutant;
}

/** Throws if a file that should be refused was read. */
export function expectRefusal(result: readonly number[] | string, says: RegExp): void {
  if (typeof result !== "string") throw new Error(`was read as ${result}; expected ${says}`);
  if (!says.test(result)) throw new Error(`was refused with ${result}; expected ${says}`);
}
