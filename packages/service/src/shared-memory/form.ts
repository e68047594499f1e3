/** Which form of shared memory this machine has. */
import { createSharedMemory } from "./shared-memory.ts";

/** The form in which memories are passed to other processes on this machine. */
export interface SharedMemoryForm {
  /** "mapped": both sides map one memory file. "copied": bytes are copied through private files. */
  readonly form: "mapped" | "copied";
  /** The reason for the form, for people. */
  readonly why: string;
  /** A remedy that would give the better form, if there is one. */
  readonly remedy?: string;
}

/** Makes a small memory to find out. */
export function sharedMemoryForm(): SharedMemoryForm {
  const memory = createSharedMemory(4096);
  if (!("refused" in memory)) {
    memory.close();
    return {
      form: "mapped",
      why: "memory files (memfd) are mapped on both sides, and their descriptors passed over a socket",
    };
  }
  const isAbsent = memory.refused.includes("koffi is not installed");
  const why = `memory is copied through private files: ${memory.refused.replace(/^shared memory: /, "")}`;
  return { form: "copied", why, ...(isAbsent && { remedy: "npm install koffi" }) };
}
