/**
 * Identifies the processor, as far as the platform reports it: a name for messages, and a key for outcomes that are kept.
 */

/** A processor. */
export interface Processor {
  /** For people, such as `AMD EPYC 7B13 (x64)`. */
  readonly name: string;
  /**
   * Equal for processors of the same model with the same features (a virtual machine can lack some); undefined if the
   * platform does not report the features.
   */
  readonly identity?: string | undefined;
}

/** The modules of Node.js that are used; looked up when they are needed, since a browser has none. */
interface NodeModules {
  readonly "node:fs": typeof import("node:fs");
  readonly "node:os": typeof import("node:os");
}

function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  return globalThis.process?.getBuiltinModule?.(name);
}

/** The processor of this machine. It does not throw; without Node.js its name is only general. */
export function currentProcessor(): Processor {
  const os = nodeModule("node:os");
  if (os === undefined) return { name: "of this browser" };
  const arch = os.arch();
  const description = readDescription();
  const model = description?.model ?? modelOf(os);
  const name = model === "" || model === "unknown" ? arch : `${model} (${arch})`;
  return { name, identity: description && `${name} ${description.features}` };
}

function modelOf(os: NodeModules["node:os"]): string {
  try {
    return (os.cpus()[0]?.model ?? "").trim();
  } catch {
    return "";
  }
}

/** The bytes that hold the description of one processor; the file has one for each, which takes long if there are many. */
const longestDescription = 16384;

/**
 * Reads the description of the first processor on Linux; undefined if there is no such file, or it lists no features.
 */
function readDescription(): { readonly model: string; readonly features: string } | undefined {
  const fs = nodeModule("node:fs");
  if (fs === undefined) return undefined;
  try {
    const file = fs.openSync("/proc/cpuinfo", "r");
    try {
      const bytes = new Uint8Array(longestDescription);
      const length = fs.readSync(file, bytes, 0, bytes.length, 0);
      return parseDescription(new TextDecoder().decode(bytes.subarray(0, length)));
    } finally {
      fs.closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Reads /proc/cpuinfo: x86 has a model name and flags, ARM the numbers of a part and features. */
export function parseDescription(text: string): { readonly model: string; readonly features: string } | undefined {
  const [first = ""] = text.split("\n\n");
  const fields = new Map<string, string>();
  for (const line of first.split("\n")) {
    const [key = "", ...value] = line.split(":");
    fields.set(key.trim(), value.join(":").trim());
  }
  const features = fields.get("flags") ?? fields.get("Features");
  if (features === undefined || features === "") return undefined;
  const part = ["CPU implementer", "CPU part", "CPU variant"].map((key) => fields.get(key));
  const numbers = part.filter((each) => each !== undefined).join(" ");
  return { model: fields.get("model name") ?? (numbers === "" ? "" : `ARM ${numbers}`), features };
}
