/**
 * onnxruntime-node, which is an optional package: how it is loaded, and the options of its sessions.
 */
import type { Unavailable } from "@nnhal/backend";
import type * as ort from "onnxruntime-node";

/** The module of onnxruntime-node. */
export type Ort = typeof ort;

/** The package that computes. */
const packageName = "onnxruntime-node";

/** Loads the engine, or returns the reason why that is not possible. */
export async function loadOrt(): Promise<Ort | Unavailable> {
  // Not a constant: the package is optional, so bundlers and compilers must not look for it.
  const specifier: string = packageName;
  try {
    const module: unknown = await import(specifier);
    if (isOrt(module)) return module;
    return { unavailable: `${packageName} has no InferenceSession: it is not a version that is known` };
  } catch (error) {
    return whyNot(error);
  }
}

function isOrt(module: unknown): module is Ort {
  return typeof module === "object" && module !== null && "InferenceSession" in module && "Tensor" in module;
}

function whyNot(error: unknown): Unavailable {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const [message = ""] = (error instanceof Error ? error.message : String(error)).trim().split("\n");
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  const remedy = `npm install ${packageName}`;
  if (isMissing && message.includes(`'${packageName}'`))
    return { unavailable: `${packageName} is not installed`, remedy };
  // Its native library is a file of the package.
  return { unavailable: `${packageName} does not work: ${message}`, remedy };
}

/** Options of a session. `threads` 0 is one for each core. */
export function sessionOptions(
  threads: number,
  more: ort.InferenceSession.SessionOptions = {},
): ort.InferenceSession.SessionOptions {
  return {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Errors are thrown; only fatal ones are also written to the console.
    logSeverityLevel: 4,
    ...more,
    extra: {
      // Threads that wait must not take the processor from others.
      "session.intra_op.allow_spinning": "0",
      // On processors whose products of bytes saturate, unsigned weights are used, which are exact.
      "session.x64quantprecision": "1",
      ...more.extra,
    },
  };
}
