/** Small .tflite files, and folders of them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";

type Given = Partial<TfliteTensor> & Pick<TfliteTensor, "shape">;

function tensor(name: string, given: Given): TfliteTensor {
  return { name, type: "FLOAT32", isVariable: false, ...given };
}

function modelOf(
  subgraph: Pick<TfliteModel["subgraphs"][0], "tensors" | "inputs" | "outputs" | "operators">,
  signatures: TfliteModel["signatures"] = [],
): Uint8Array {
  const subgraphs = [{ name: "main", ...subgraph }];
  return writeTflite({ version: 3, description: "test", subgraphs, metadata: [], signatures });
}

/** A model whose output `passed` is its input `given` of the shape [rows, width]; rows are open. */
export function passingModel(type: TfliteTensor["type"] = "FLOAT32", width = 2): Uint8Array {
  const shape = { type, shape: [1, width], shapeSignature: [-1, width] };
  return modelOf({
    tensors: [tensor("given", shape), tensor("passed", shape)],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "RESHAPE", version: 1, inputs: [0], outputs: [1], options: { newShape: [-1, width] } }],
  });
}

/** A model of MediaPipe's operator that puts each element of `given` at its place of a 2 by 2 window. */
export function unpoolingModel(): Uint8Array {
  const shape = [1, 1, 1, 1];
  const customOptions = new Uint8Array(Int32Array.of(1, 2, 2, 2, 2, 0).buffer);
  return modelOf({
    tensors: [tensor("given", { shape }), tensor("places", { shape }), tensor("unpooled", { shape: [1, 2, 2, 1] })],
    inputs: [0, 1],
    outputs: [2],
    operators: [
      {
        ...{ name: "CUSTOM", customCode: "MaxUnpooling2D", version: 1, options: {}, customOptions },
        ...{ inputs: [0, 1], outputs: [2] },
      },
    ],
  });
}

/** A model that adds its inputs `left` and `right` of the shape [rows, 2]; rows are open. */
export function openAddingModel(): Uint8Array {
  const shape = { shape: [1, 2], shapeSignature: [-1, 2] };
  return modelOf({
    tensors: [tensor("left", shape), tensor("right", shape), tensor("sum", shape)],
    inputs: [0, 1],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

/** A model whose output is its input plus the mean over the rows, which are open: no row is computed for itself. */
export function mixingModel(): Uint8Array {
  const shape = { shape: [1, 2], shapeSignature: [-1, 2] };
  return modelOf({
    tensors: [
      tensor("given", shape),
      tensor("axis", { type: "INT32", shape: [1], data: new Uint8Array(4) }),
      tensor("mean", { shape: [1, 2] }),
      tensor("mixed", shape),
    ],
    inputs: [0],
    outputs: [3],
    operators: [
      { name: "MEAN", version: 1, inputs: [0, 1], outputs: [2], options: { keepDims: true } },
      { name: "ADD", version: 1, inputs: [0, 2], outputs: [3], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

/** A model of fixed shapes that adds its two inputs of the shape [2, 2], with two signatures. */
export function addingModel(): Uint8Array {
  const shape = [2, 2];
  const names = (...pairs: [string, number][]) => pairs.map(([name, index]) => ({ name, tensor: index }));
  const outputs = names(["total", 2]);
  return modelOf(
    {
      tensors: [tensor("left", { shape }), tensor("right", { shape }), tensor("sum", { shape })],
      inputs: [0, 1],
      outputs: [2],
      operators: [
        { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
      ],
    },
    [
      { key: "first", subgraph: 0, inputs: names(["a", 0], ["b", 1]), outputs },
      { key: "second", subgraph: 0, inputs: names(["x", 0], ["y", 1]), outputs },
    ],
  );
}

/** A model that adds two constants, which are a file of their own, to its input. */
export function splitModel(group: string): Uint8Array {
  const shape = [2];
  return modelOf({
    tensors: [
      tensor("given", { shape }),
      tensor("weights", { shape, external: { group, offset: 0, length: 8 } }),
      tensor("sum", { shape }),
    ],
    inputs: [0],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

/** A model with an operator that no device has. */
export function unknownOperatorModel(): Uint8Array {
  return modelOf({
    tensors: [tensor("given", { shape: [1, 2] }), tensor("made", { shape: [1, 2] })],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "CUSTOM", customCode: "Frobnicate", version: 1, inputs: [0], outputs: [1], options: {} }],
  });
}

const folders: string[] = [];

/** A new folder with files. */
export function folderOf(files: Readonly<Record<string, Uint8Array | string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-server-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
