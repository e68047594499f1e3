/**
 * Makes the inputs of a wrong operator smaller, as long as it stays wrong: a report with ten elements says more than one with a million.
 */
import { diffModel, type Judge, type Suspect, shrinkBy, type TensorValue } from "@nnhal/diff";
import { type ExtensionDefinition, elementAt, elementCount } from "@nnhal/operations";
import { type ImportedModel, type ImportOptions, importTflite, TfliteError, type TfliteModel } from "@nnhal/tflite";

/** An operator as a file of its own, with its inputs and results in the file's order: raw elements. */
export interface Piece {
  readonly model: TfliteModel;
  readonly inputs: readonly Uint8Array[];
  readonly expected: readonly Uint8Array[];
  readonly actual: readonly Uint8Array[];
}

/** Sides of the comparison, and options of importing an operator. */
export interface PieceOptions {
  readonly judge: Judge;
  readonly suspect: Suspect;
  readonly extensions: readonly ExtensionDefinition[];
  readonly importing: ImportOptions;
}

/** The most forms that are tried: each is prepared twice. */
const mostTries = 120;

/** Returns the smallest form that is found to be wrong as well; the piece itself if none is. Does not reject because of a form. */
export async function shrinkPiece(piece: Piece, options: PieceOptions): Promise<Piece> {
  let smallest = piece;
  await shrinkBy<Piece>(piece, {
    passes: [smallerExtents],
    mostTries,
    stillFails: async (candidate) => {
      const found = await reproducePiece(candidate, options).catch(() => undefined);
      if (found === undefined) return false;
      smallest = found;
      return true;
    },
  });
  return smallest;
}

/** Extents of 1, of half, and one less, of each axis: of all inputs that have this extent there. */
function* smallerExtents(piece: Piece): Generator<Piece, void> {
  const { inputs, tensors } = mainOf(piece.model);
  const shapes = inputs.map((index) => elementAt(tensors, index).shape);
  const rank = Math.max(0, ...shapes.map(({ length }) => length));
  for (let axis = 0; axis < rank; axis++) {
    for (const extent of new Set(shapes.flatMap((shape) => shape[axis] ?? []))) {
      for (const smaller of new Set([1, extent >> 1, extent - 1])) {
        if (smaller < 1 || smaller >= extent) continue;
        const cut = (shape: readonly number[]) =>
          shape.map((own, place) => (place === axis && own === extent ? smaller : own));
        yield withShapes(piece, shapes.map(cut));
      }
    }
  }
}

function mainOf(model: TfliteModel): TfliteModel["subgraphs"][number] {
  return elementAt(model.subgraphs, 0);
}

/** The piece with the beginnings of its inputs. Its results have no shapes: they follow. */
function withShapes(piece: Piece, shapes: readonly (readonly number[])[]): Piece {
  const main = mainOf(piece.model);
  const tensors = main.tensors.map((tensor, index) => {
    const place = main.inputs.indexOf(index);
    if (place >= 0) return { ...tensor, shape: [...elementAt(shapes, place)] };
    return main.outputs.includes(index) ? { ...tensor, shape: [] } : tensor;
  });
  const inputs = piece.inputs.map((bytes, place) =>
    crop(bytes, elementAt(main.tensors, elementAt(main.inputs, place)).shape, elementAt(shapes, place)),
  );
  return { ...piece, model: { ...piece.model, subgraphs: [{ ...main, tensors }] }, inputs };
}

/** The elements of a tensor that are in its first extents. */
export function crop(bytes: Uint8Array, shape: readonly number[], smaller: readonly number[]): Uint8Array {
  const size = bytes.length / Math.max(1, elementCount(shape));
  const result = new Uint8Array(elementCount(smaller) * size);
  const row = (smaller.at(-1) ?? 1) * size;
  const index = smaller.slice(0, -1).map(() => 0);
  for (let to = 0; to < result.length; to += row) {
    let from = 0;
    for (const [axis, extent] of shape.entries()) from = from * extent + (index[axis] ?? 0);
    result.set(bytes.subarray(from * size, from * size + row), to);
    for (let axis = index.length - 1; axis >= 0; axis--) {
      const next = (index[axis] ?? 0) + 1;
      index[axis] = next < elementAt(smaller, axis) ? next : 0;
      if (next < elementAt(smaller, axis)) break;
    }
  }
  return result;
}

/**
 * Runs an operator by itself on both sides. Returns it with its results, and their shapes in the file; undefined: it cannot be imported, or it
 * is right.
 */
export async function reproducePiece(
  piece: Omit<Piece, "expected" | "actual">,
  { judge, suspect, extensions, importing }: PieceOptions,
): Promise<Piece | undefined> {
  let imported: ImportedModel;
  try {
    imported = importTflite(piece.model, importing);
  } catch (error) {
    if (error instanceof TfliteError) return undefined;
    throw error;
  }
  const main = mainOf(piece.model);
  const values = piece.inputs.map(
    (bytes, place): TensorValue => ({
      bytes,
      dimensions: elementAt(main.tensors, elementAt(main.inputs, place)).shape,
    }),
  );
  const found = new Map<number, { readonly expected: TensorValue; readonly actual: TensorValue }>();
  let isWrong = false;
  await diffModel(imported.model, {
    judge,
    suspect,
    extensions,
    inputs: [values],
    onOperation: ({ verdict, outputs }, { runs: [run] }) => {
      isWrong ||= verdict === "wrong";
      for (const [place, { operand }] of outputs.entries()) {
        // An operator of several operations is wrong at its end with what the device computed within it.
        const [expected, actual] = [run?.expected[place], run?.accumulated[place]];
        if (expected !== undefined && actual !== undefined) found.set(operand, { expected, actual });
      }
    },
  });
  const results = imported.model.main.outputIndexes.map((operand) => found.get(operand));
  if (!isWrong || results.some((result) => result === undefined)) return undefined;
  const known = results.flatMap((result) => result ?? []);
  const tensors = main.tensors.map((tensor, index) => {
    const place = main.outputs.indexOf(index);
    return place < 0 ? tensor : { ...tensor, shape: [...elementAt(known, place).expected.dimensions] };
  });
  return {
    model: { ...piece.model, subgraphs: [{ ...main, tensors }] },
    inputs: piece.inputs,
    expected: known.map(({ expected }) => expected.bytes),
    actual: known.map(({ actual }) => actual.bytes),
  };
}
