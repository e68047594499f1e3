/**
 * A backend for chains of FULLY_CONNECTED layers that works as engines for accelerators do: to compile, it arranges the weights
 * in several ways, measures which is the fastest here, and keeps that. The result is worth caching.
 */
import type { Backend, BackendSession, CacheBlobs, Executable, GraphView, OperandView } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { DeviceType, ErrorStatus, type PerformanceInfo } from "@nnhal/types";

/** Rows that are computed side by side, as candidates. */
const tiles = [1, 2, 4, 8] as const;

/** The weights of a layer, tile by tile: for each column the values of all rows of the tile. */
interface Layer {
  readonly tile: number;
  readonly rows: number;
  readonly columns: number;
  readonly packed: Float32Array;
  readonly bias: Float32Array;
}

function pack(weights: Float32Array, rows: number, columns: number, tile: number): Float32Array {
  const packed = new Float32Array(weights.length);
  let at = 0;
  for (let row = 0; row < rows; row += tile) {
    for (let column = 0; column < columns; column++) {
      for (let inside = 0; inside < tile; inside++)
        packed[at++] = elementAt(weights, (row + inside) * columns + column);
    }
  }
  return packed;
}

function multiply({ tile, rows, columns, packed, bias }: Layer, input: Float32Array): Float32Array {
  const output = new Float32Array(bias);
  let at = 0;
  for (let row = 0; row < rows; row += tile) {
    for (let column = 0; column < columns; column++) {
      const value = elementAt(input, column);
      for (let inside = 0; inside < tile; inside++)
        output[row + inside] = elementAt(output, row + inside) + elementAt(packed, at++) * value;
    }
  }
  return output;
}

/** The fastest arrangement of a layer: each candidate is tried three times, and the least time counts. */
function tune(weights: Float32Array, bias: Float32Array, rows: number, columns: number): Layer {
  const input = new Float32Array(columns).fill(1);
  const timed = tiles.map((tile) => {
    const layer = { tile, rows, columns, packed: pack(weights, rows, columns, tile), bias };
    const times = [1, 2, 3].map(() => {
      const start = performance.now();
      multiply(layer, input);
      return performance.now() - start;
    });
    return { layer, time: Math.min(...times) };
  });
  return timed.reduce((best, one) => (one.time < best.time ? one : best)).layer;
}

function floatsOf({ data }: OperandView): Float32Array {
  if (data instanceof Float32Array) return data;
  throw new TypeError("the weights and the bias must be constants of type float32");
}

function compileLayers(layers: readonly Layer[]): Executable {
  return {
    run([input], outputs) {
      const start = input?.bytes ?? new Uint8Array(0);
      let result: Float32Array = new Float32Array(start.slice().buffer);
      for (const layer of layers) result = multiply(layer, result);
      elementAt(outputs, 0).bytes.set(new Uint8Array(result.buffer));
      return { status: ErrorStatus.NONE, outputShapes: [{ dimensions: [1, result.length], isSufficient: true }] };
    },
    serialize: () => ({
      model: [
        new Uint8Array(Uint32Array.from(layers.flatMap(({ tile, rows, columns }) => [tile, rows, columns])).buffer),
      ],
      data: layers.flatMap(({ packed, bias }) => [bytesOf(packed), bytesOf(bias)]),
    }),
    close() {},
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A view: blobs are aligned. */
function floatsIn({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

function restoreExecutable({ model, data }: CacheBlobs): Executable {
  const facts = elementAt(model, 0);
  const numbers = new Uint32Array(facts.buffer, facts.byteOffset, facts.byteLength / 4);
  const layers = Array.from({ length: numbers.length / 3 }, (_, index): Layer => {
    return {
      tile: elementAt(numbers, 3 * index),
      rows: elementAt(numbers, 3 * index + 1),
      columns: elementAt(numbers, 3 * index + 2),
      packed: floatsIn(elementAt(data, 2 * index)),
      bias: floatsIn(elementAt(data, 2 * index + 1)),
    };
  });
  return compileLayers(layers);
}

const one: PerformanceInfo = { execTime: 1, powerUsage: 1 };

const session: BackendSession = {
  version: "tuning-1",
  capabilities: {
    relaxedFloat32toFloat16PerformanceScalar: one,
    relaxedFloat32toFloat16PerformanceTensor: one,
    operandPerformance: [],
    ifPerformance: one,
    whilePerformance: one,
  },
  supports({ definition: { name } }) {
    if (name === "FULLY_CONNECTED") return { supported: true };
    return { supported: false, reason: `${name}: only FULLY_CONNECTED is tuned` };
  },
  async compile({ operations }: GraphView) {
    const layers = operations.map(({ inputs: [, weights, bias] }) => {
      const [rows, columns] = weights?.dimensions ?? [];
      if (weights === undefined || bias === undefined || rows === undefined || columns === undefined) {
        throw new TypeError("FULLY_CONNECTED needs a matrix of weights and a bias");
      }
      return tune(floatsOf(weights), floatsOf(bias), rows, columns);
    });
    return compileLayers(layers);
  },
  restore: async (blobs) => restoreExecutable(blobs),
  close: async () => {},
};

export const tuningBackend: Backend = { name: "tuning", deviceType: DeviceType.OTHER, open: async () => session };
