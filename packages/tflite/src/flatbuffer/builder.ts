/**
 * The part of the Builder of flatbuffers that layouts use. Declarations name this form of it, so that users of this package, whose build has
 * flatbuffers in it, need not install that.
 */
export interface Builder {
  addInt8(value: number): void;
  addInt16(value: number): void;
  addInt32(value: number): void;
  addInt64(value: bigint): void;
  addFloat32(value: number): void;
  addOffset(offset: number): void;
  addFieldInt8(slot: number, value: number, absent: null): void;
  addFieldInt16(slot: number, value: number, absent: null): void;
  addFieldInt32(slot: number, value: number, absent: null): void;
  addFieldInt64(slot: number, value: bigint, absent: null): void;
  addFieldFloat32(slot: number, value: number, absent: null): void;
  addFieldOffset(slot: number, offset: number, absent: number): void;
  createString(text: string): number;
  createByteVector(bytes: Uint8Array): number;
  prep(alignment: number, size: number): void;
  startVector(elementSize: number, count: number, alignment: number): void;
  endVector(): number;
  startObject(slots: number): void;
  endObject(): number;
}
