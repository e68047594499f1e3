/**
 * Names of file formats that are mistaken for models and inputs. For messages only.
 */
interface Kind {
  /** With its article. */
  readonly name: string;
  /** The step that makes a .tflite model of it. */
  readonly remedy?: string;
}

const convert = "convert it to .tflite";
const unpack = "unpack it";
const model = "a .tflite model";

/** Formats by the bytes that they have at a place: hexadecimal, with `..` for any. */
const signatures: readonly (readonly [start: string, name: string, remedy?: string])[] = [
  ["ffd8ff", "a JPEG picture"],
  ["89504e470d0a1a0a", "a PNG picture"],
  ["474946383.61", "a GIF picture"],
  ["52494646........57454250", "a WebP picture"],
  ["52494646........57415645", "a WAV sound"],
  ["424d........00000000", "a BMP picture"],
  ["49492a00", "a TIFF picture"],
  ["4d4d002a", "a TIFF picture"],
  ["........66747970", "an MP4 or HEIF file"],
  ["494433", "an MP3 sound"],
  ["4f676753", "an Ogg sound"],
  ["664c6143", "a FLAC sound"],
  ["934e554d5059", "a .npy array"],
  ["........54464c33", model],
  ["........4f52544d", "an ORT model, ONNX Runtime's form", convert],
  ["........4d303031", "TFLite Metadata without their model"],
  ["894844460d0a1a0a", "an HDF5 file, as Keras writes models", convert],
  ["1f8b", "a gzip archive", unpack],
  ["425a68", "a bzip2 archive", unpack],
  ["fd377a585a00", "an xz archive", unpack],
  ["28b52ffd", "a zstd archive", unpack],
  ["377abcaf271c", "a 7-Zip archive", unpack],
  ["25504446", "a PDF document"],
  ["7f454c46", "a program or library for Linux"],
  ["0061736d", "a WebAssembly module"],
  ["47475546", "a GGUF model", convert],
  ["80..7d", "a Python pickle, as PyTorch writes models", convert],
  ["80..8a", "a Python pickle, as PyTorch writes models", convert],
];

/** Why bytes are not a .tflite model: `it is a gzip archive; unpack it`. undefined: they are one, or nothing that is known. */
export function whyNoModel(bytes: Uint8Array): string | undefined {
  const kind = kindOf(bytes);
  if (kind === undefined || kind.name === model) return undefined;
  return `it is ${kind.name}${kind.remedy === undefined ? "" : `; ${kind.remedy}`}`;
}

/** Name of the format of bytes: `a gzip archive`. undefined: the format is not known. */
export function nameFile(bytes: Uint8Array): string | undefined {
  return kindOf(bytes)?.name;
}

function kindOf(bytes: Uint8Array): Kind | undefined {
  if (bytes.length === 0) return { name: "empty" };
  if (startsWith(bytes, "504b0304") || startsWith(bytes, "504b0506")) return zipKind(bytes);
  for (const [start, name, remedy] of signatures) {
    if (startsWith(bytes, start)) return { name, ...(remedy !== undefined && { remedy }) };
  }
  if (asciiOf(bytes, 257, 262) === "ustar") return { name: "a tar archive", remedy: unpack };
  return textKind(bytes) ?? protobufKind(bytes);
}

/** `start`: hexadecimal digits, with `.` for any. */
function startsWith(bytes: Uint8Array, start: string): boolean {
  const count = start.length / 2;
  if (bytes.length < count) return false;
  const digits = Array.from(bytes.subarray(0, count), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return new RegExp(`^${start}$`).test(digits);
}

function asciiOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** A zip archive by the names of its first entries. */
function zipKind(bytes: Uint8Array): Kind {
  const start = asciiOf(bytes, 0, 4096);
  if (/\.npy/.test(start)) return { name: "a .npz archive", remedy: unpack };
  if (/data\.pkl/.test(start)) return { name: "a PyTorch model", remedy: convert };
  if (/model\.weights\.h5|metadata\.json/.test(start) && /config\.json/.test(start))
    return { name: "a Keras model", remedy: convert };
  return { name: "a zip archive", remedy: unpack };
}

/** Texts are judged by what they begin with. */
const TEXT_BYTES = 4096;

function textKind(bytes: Uint8Array): Kind | undefined {
  const text = textOf(bytes.subarray(0, TEXT_BYTES));
  if (text === undefined) return undefined;
  const start = text.trimStart();
  if (start.startsWith("version https://git-lfs.github.com/spec/"))
    return { name: "a Git LFS pointer, not the file itself", remedy: "git lfs pull fetches the file" };
  if (/^<(!doctype html|html|head|body)\b/i.test(start))
    return { name: "an HTML page", remedy: "the download may have failed" };
  if (/^<\?xml|^<svg\b/i.test(start)) return { name: /<svg\b/i.test(start) ? "an SVG picture" : "an XML file" };
  if (/^[[{]/.test(start) && /"modelTopology"|"weightsManifest"/.test(text))
    return { name: "a TensorFlow.js model", remedy: convert };
  return { name: /^[[{]/.test(start) ? "a JSON file" : "a text" };
}

/** The text of bytes whose last character may be cut; undefined for bytes that are not UTF-8, or have control characters. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: texts have none of these
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A field of a message: its number, and its bytes or its value. */
interface Field {
  readonly number: number;
  readonly value?: number;
  readonly bytes?: Uint8Array;
}

/** Fields that are read of a message. */
const MOST_FIELDS = 64;

/** Models in messages of Protocol Buffers, by which fields there are. */
function protobufKind(bytes: Uint8Array): Kind | undefined {
  const fields = fieldsOf(bytes);
  const has = (number: number) => fields.find((field) => field.number === number);
  const [first] = fields;
  // ModelProto: ir_version, then the graph; the producer is before it.
  const isVersion = first?.number === 1 && first.value !== undefined && first.value > 0 && first.value < 1000;
  if (isVersion && has(7)?.bytes !== undefined) return { name: "an ONNX model", remedy: convert };
  // SavedModel: saved_model_schema_version, then meta_graphs.
  const graphs = has(2)?.bytes;
  if (isVersion && first.value === 1 && graphs?.[0] === 0x0a)
    return { name: "TensorFlow's SavedModel", remedy: convert };
  // GraphDef: nodes, each with a name.
  if (first?.number === 1 && first.bytes?.[0] === 0x0a && fields.every(({ number }) => number <= 4))
    return { name: "a TensorFlow graph", remedy: convert };
  return undefined;
}

/** The first fields of a message; the last may be cut. Empty if the bytes are not one. */
function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let part = 0; part < 10; part++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** (7 * part);
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  while (at < bytes.length && fields.length < MOST_FIELDS) {
    const tag = varint();
    const number = tag === undefined ? 0 : Math.floor(tag / 8);
    const value = tag !== undefined && (tag & 7) <= 2 && (tag & 7) !== 1 ? varint() : undefined;
    if (tag === undefined || number === 0 || value === undefined) return [];
    if ((tag & 7) === 0) fields.push({ number, value });
    else {
      fields.push({ number, bytes: bytes.subarray(at, at + value) });
      at += value;
    }
  }
  return fields;
}
