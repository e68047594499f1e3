/** Pictures: small ones of each format, and bombs, which claim much and have little. */
import { crc32, deflateSync } from "node:zlib";

const base64 = (text: string) => new Uint8Array(Buffer.from(text, "base64"));

/** 16 x 16 pixels. */
export const jpeg = base64(
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wEEEAAUABQAFAAUABUAFAAXABkAGQAXAB8AIgAeACIAHwAuACsAJwAnACsALgBGADIANgAyADYAMgBGAGoAQgBOAEIAQgBOAEIAagBeAHIAXQBWAF0AcgBeAKkAhQB2AHYAhQCpAMMApACbAKQAwwDsANMA0wDsASoBGwEqAYUBhQILEQAUABQAFAAUABUAFAAXABkAGQAXAB8AIgAeACIAHwAuACsAJwAnACsALgBGADIANgAyADYAMgBGAGoAQgBOAEIAQgBOAEIAagBeAHIAXQBWAF0AcgBeAKkAhQB2AHYAhQCpAMMApACbAKQAwwDsANMA0wDsASoBGwEqAYUBhQIL/8EAEQgAEAAQAwEiAAIRAQMRAf/EAFgAAQEBAAAAAAAAAAAAAAAAAAEDBBABAQADAAAAAAAAAAAAAAAAABMBAhEBAQAAAAAAAAAAAAAAAAAAAAARAAIABwAAAAAAAAAAAAAAAAACAQUTQWKB0f/aAAwDAQACEQMRAD8AvTUUYqdFMlC6w2vAslxP/9k=",
);
/** The same with several scans. */
export const progressiveJpeg = base64(
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wEEEAAUABQAFAAUABUAFAAXABkAGQAXAB8AIgAeACIAHwAuACsAJwAnACsALgBGADIANgAyADYAMgBGAGoAQgBOAEIAQgBOAEIAagBeAHIAXQBWAF0AcgBeAKkAhQB2AHYAhQCpAMMApACbAKQAwwDsANMA0wDsASoBGwEqAYUBhQILEQAUABQAFAAUABUAFAAXABkAGQAXAB8AIgAeACIAHwAuACsAJwAnACsALgBGADIANgAyADYAMgBGAGoAQgBOAEIAQgBOAEIAagBeAHIAXQBWAF0AcgBeAKkAhQB2AHYAhQCpAMMApACbAKQAwwDsANMA0wDsASoBGwEqAYUBhQIL/8IAEQgAEAAQAwEiAAIRAQMRAf/EACgAAQEBAAAAAAAAAAAAAAAAAAEDBAEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEAMQAAAAuYg//8QAGBABAQADAAAAAAAAAAAAAAAAABMBAhH/2gAIAQEAAT8Apqop1TL/xAAaEQAABwAAAAAAAAAAAAAAAAAAAQITUoHR/9oACAECAQE/AGIlacH/xAAXEQADAQAAAAAAAAAAAAAAAAAAAgVi/9oACAEDAQE/AFi5P//Z",
);
export const webp = base64(
  "UklGRlgAAABXRUJQVlA4IEwAAADQAQCdASoQABAABABoJbACdADcGLUL4AD91ZdNTUXtShavzP2Tcy6EcGDnej7cTcLiHpR07ZuXnaAnjy4GP8jco+WfDfezw2bm0gAA",
);
export const losslessWebp = base64("UklGRjAAAABXRUJQVlA4TCQAAAAvD8ADAJmM6H9sIgre/4CQgPj/1gNRVOdfSJBimneNCTBV8S4=");

/** A PNG file of zeros. `kind`: its colour type. */
export function pngOf(width: number, height: number, depth: number, kind: number): Uint8Array {
  const chunk = (name: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length, 0);
    whole.set(body, 4);
    whole.writeUInt32BE(crc32(body), body.length + 4);
    return whole;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, kind], 8);
  const samples = { 0: 1, 2: 3, 4: 2, 6: 4 }[kind] ?? 1;
  const rows = Buffer.alloc(height * (1 + Math.ceil((width * depth * samples) / 8)));
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return new Uint8Array(
    Buffer.concat([start, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]),
  );
}

/** A GIF file of one colour, whose codes stand for ever more pixels. */
export function gifOf(width: number, height: number): Uint8Array {
  const short = (value: number) => [value & 255, value >> 8];
  const head = [...Buffer.from("GIF89a"), ...short(width), ...short(height), 0x80, 0, 0, 9, 9, 9, 255, 255, 255];
  const frame = [0x2c, 0, 0, 0, 0, ...short(width), ...short(height), 0, 2];
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  const write = (code: number, size: number) => {
    bits |= code << held;
    held += size;
    for (; held >= 8; held -= 8, bits >>>= 8) bytes.push(bits & 255);
  };
  write(4, 3);
  write(0, 3);
  // Each code is the one before, and a pixel more; the last one, which is defined at 4096 codes, is repeated.
  let [done, next, size] = [1, 6, 3];
  while (done < width * height) {
    const isFull = next >= 4096;
    write(isFull ? 4095 : next, size);
    done += isFull ? 4091 : next - 4;
    if (!isFull && ++next === 1 << size && size < 12) size++;
  }
  write(5, size);
  write(0, 8);
  const blocks = Array.from({ length: Math.ceil(bytes.length / 255) }, (_, place) => {
    const block = bytes.slice(255 * place, 255 * place + 255);
    return [block.length, ...block];
  });
  return Uint8Array.from([...head, ...frame, ...blocks.flat(), 0, 0x3b]);
}

/** A BMP file of zeros, of 24 bits a pixel. */
export function bmpOf(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(54 + Math.ceil((width * 24) / 32) * 4 * height);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  for (const [at, value] of [
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
    [26, 1 + (24 << 16)],
  ] as const)
    view.setUint32(at, value, true);
  return bytes;
}

/** The file with another size, and the last of its scans so often. */
export function jpegBomb(width: number, height: number, scans: number): Uint8Array {
  const lastScan = Buffer.from(progressiveJpeg).lastIndexOf(Buffer.from([0xff, 0xda]));
  const head = progressiveJpeg.slice(0, lastScan);
  const frame = Buffer.from(head).indexOf(Buffer.from([0xff, 0xc2]));
  const view = new DataView(head.buffer);
  view.setUint16(frame + 5, height);
  view.setUint16(frame + 7, width);
  const scan = progressiveJpeg.subarray(lastScan, -2);
  return new Uint8Array(Buffer.concat([head, ...Array.from({ length: scans }, () => scan), Buffer.from([0xff, 0xd9])]));
}
