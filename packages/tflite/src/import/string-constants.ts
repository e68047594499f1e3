/**
 * Constants of STRING tensors. A file has the number of strings, the place at which each begins and the end, as 32-bit integers, and then
 * their bytes.
 */
import { encodeStrings, type StringTensor } from "@nnhal/extension-tflite/types";
import { ensure, type Place } from "../error.ts";

/** The TENSOR_STRING for a constant. `count`: the number of strings by its shape. Throws a TfliteError if the data are not of that form. */
export function stringTensor(data: Uint8Array, count: number, place: Place): StringTensor {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  ensure(data.length >= 4, place, () => `STRING data have ${data.length} bytes, fewer than the 4 of their number`);
  const stored = view.getUint32(0, true);
  ensure(stored === count, place, () => `there are ${stored} strings in its data, and ${count} in its shape`);
  const head = 4 * (count + 2);
  ensure(
    data.length >= head,
    place,
    () => `the places of ${count} strings take ${head} bytes, its value has ${data.length}`,
  );
  const at = (index: number) => view.getUint32(4 * (index + 1), true);
  const strings = Array.from({ length: count }, (_, index) => {
    const [first, end] = [at(index), at(index + 1)];
    const isWithin = first >= head && first <= end && end <= data.length;
    ensure(
      isWithin,
      place,
      () => `string ${index} is at ${first} to ${end}, outside the bytes ${head} to ${data.length}`,
    );
    return data.subarray(first, end);
  });
  const width = 4 + strings.reduce((most, { length }) => Math.max(most, length), 0);
  ensure(
    width * count <= MOST_BYTES,
    place,
    () => `${count} strings of up to ${width - 4} bytes take more than ${MOST_BYTES} bytes in rows of one size`,
  );
  return encodeStrings(strings, [count], width);
}

/** All constants that an import adds have at most as many. */
const MOST_BYTES = 2 ** 26;
