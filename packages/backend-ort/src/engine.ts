/**
 * onnxruntime-node, which is an optional package: how it is loaded, and the options of its sessions.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Unavailable } from "@nnhal/backend";
import type * as ort from "onnxruntime-node";
import type { Forms } from "./forms.ts";
import type { ModelParts } from "./onnx/write.ts";

/** The module of onnxruntime-node. */
export type Ort = typeof ort;

/** An open engine. */
export interface Machine {
  readonly ort: Ort;
  /** The forms of operators that are right here. */
  readonly forms: Forms;
  /** Threads of a session; 0 is one for each core. */
  readonly threads: number;
  /** The bytes that the results of operations take, of all runs in progress. */
  used: number;
}

/** The package that computes. */
const packageName = "onnxruntime-node";

/**
 * Loads the engine, or returns the reason why that is not possible. The package is optional, so its name is not a constant: bundlers and
 * compilers must not look for it.
 */
export async function loadOrt(specifier: string = packageName): Promise<Ort | Unavailable> {
  try {
    const module: unknown = await import(specifier);
    if (isOrt(module)) {
      return module;
    }
    return { unavailable: `${specifier} has no InferenceSession: it is not a version that is known` };
  } catch (error) {
    return whyNot(specifier, error);
  }
}

function isOrt(module: unknown): module is Ort {
  return typeof module === "object" && module !== null && "InferenceSession" in module && "Tensor" in module;
}

function whyNot(specifier: string, error: unknown): Unavailable {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const [message = ""] = (error instanceof Error ? error.message : String(error)).trim().split("\n");
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  // Its script downloads libraries for CUDA, which are not needed; the one for the CPU is in the package.
  const remedy = `npm install ${specifier}; where scripts or downloads are blocked: npm install --ignore-scripts ${specifier}`;
  if (isMissing && message.includes(`'${specifier}'`)) return { unavailable: `${specifier} is not installed`, remedy };
  // Its native library is a file of the package.
  return { unavailable: `${specifier} does not work: ${message}`, remedy };
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
      // Threads that sleep between operators wake too late to share a small one; by default they spin for 30 ms, and take a processor from others.
      "session.intra_op.allow_spinning": "1",
      "session.intra_op.spin_duration_us": "300",
      // Otherwise constant weights between conversions from and to 8 bits are rounded to 8 bits too.
      "session.disable_quant_qdq": "1",
      ...more.extra,
    },
  };
}

/** Creates a session over a model. The engine has copied the elements beside it when the session is there. */
export function openSession(
  { InferenceSession }: Ort,
  { model, externalData }: ModelParts,
  options: ort.InferenceSession.SessionOptions,
): Promise<ort.InferenceSession> {
  return InferenceSession.create(model, { ...options, externalData });
}

/** Options of a session over the bytes of `optimisedModel`, which must live as long as the session. */
export function optimisedOptions(threads: number): ort.InferenceSession.SessionOptions {
  return sessionOptions(threads, {
    graphOptimizationLevel: "disabled",
    extra: { "session.use_ort_model_bytes_directly": "1", "session.use_ort_model_bytes_for_initializers": "1" },
  });
}

/** The optimised form of a model, in the format of onnxruntime. The engine writes it to files only. */
export async function optimisedModel({ ort }: Machine, parts: ModelParts): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "nnhal-ort-"));
  try {
    const optimizedModelFilePath = join(folder, "model.ort");
    const extra = { "session.save_model_format": "ORT" };
    const session = await openSession(ort, parts, sessionOptions(1, { optimizedModelFilePath, extra }));
    await session.release();
    return await readFile(optimizedModelFilePath);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
