/** @nnhal/utils/codec: values of the HAL as bytes. */
export {
  type ByteReader,
  type ByteWriter,
  byteReader,
  toBytes,
  UnreadableBytes,
  Unwritable,
} from "./bytes.ts";
export {
  bytes,
  type Codec,
  decode,
  empty,
  encode,
  type FieldCodecs,
  flag,
  float64,
  int32,
  list,
  mapCodec,
  nullable,
  optional,
  readLast,
  struct,
  text,
  uint8,
  uint32,
  uint64,
  union,
  type ValueOf,
} from "./codec.ts";
export { dataLocation, type ModelStructure, modelStructure } from "./model.ts";
