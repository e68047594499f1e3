/**
 * The best ONNX form of a network that this project can write: what its own device gives to onnxruntime.
 */
import { viewModel } from "@nnhal/backend";
import type { BufferHandle, Memory } from "@nnhal/types";
import { messageOf } from "../failure.ts";
import type { LoadedModel } from "../model/load.ts";
import { oneLine } from "../text.ts";

/** A file of ONNX, or why there is none. */
export type OnnxForm = Uint8Array | { readonly cannot: string };

/** The ONNX form of a network. */
export async function onnxFormOf({ model, states }: Pick<LoadedModel, "model" | "states">): Promise<OnnxForm> {
  if (states.length > 0) return { cannot: "the ONNX form of a network has no state between executions" };
  try {
    const { formsOfThisProcessor, onnxModelOf } = await import("@nnhal/backend-ort");
    // The peer runs the same file as the device, so it is right on this processor too.
    const forms = await formsOfThisProcessor();
    return onnxModelOf(viewModel({ model, pools: model.pools.map(bytesOf) }), { forms });
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    const reason = isMissing ? "@nnhal/backend-ort, which writes it, is not installed" : oneLine(messageOf(error));
    return { cannot: `there is no ONNX form of the network: ${reason}; give one with --onnx FILE` };
  }
}

/** The bytes of a memory. The importer keeps constants in the bytes of the file. */
function bytesOf({ handle, size, name }: Memory): Uint8Array {
  if (handle === null || !isBuffer(handle)) throw new Error(`constants lie in memory of the kind ${name}`);
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
}

function isBuffer(handle: object): handle is BufferHandle {
  return "buffer" in handle;
}
