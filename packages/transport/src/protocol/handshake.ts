/** The first frames: a client says which service it wants and which versions it speaks; the server accepts, or says why not. */
import { type DeviceStatus, type HalVersion, halVersions } from "@nnhal/types";
import {
  type Codec,
  encode,
  flag,
  list,
  mapCodec,
  nullable,
  struct,
  text,
  UnreadableBytes,
  uint32,
} from "@nnhal/utils/codec";
import { FrameKind } from "./frames.ts";
import { deviceStatus } from "./values.ts";

/**
 * The versions of frames and methods that this package speaks. A change that older peers cannot read is a new version. 2: hints and
 * reusable executions of AIDL 4, padding of arguments.
 */
export const protocolVersions: readonly number[] = [1, 2];

/** The newest version that both sides speak; undefined if there is none. */
export function commonVersion(versions: readonly number[]): number | undefined {
  return protocolVersions.findLast((version) => versions.includes(version));
}

const magic = "nnhal";

/** The first frame, from the client. */
export interface Hello {
  /** The versions of the protocol that the client speaks. */
  readonly versions: readonly number[];
  /** The name of the device that it wants; empty for the only one. */
  readonly service: string;
}

/** The server's answer to `Hello`. */
export interface Welcome {
  /** Why the client is refused; null if it is not, and then all else is valid. */
  readonly refusal: string | null;
  /** The newest version that both speak. */
  readonly version: number;
  /** The name of the device. */
  readonly name: string;
  readonly halVersion: HalVersion;
  readonly status: DeviceStatus;
  /** Which optional methods the device has. */
  readonly prepareModelFromCache: boolean;
  readonly allocate: boolean;
}

const halVersion: Codec<HalVersion> = mapCodec<HalVersion, string>(
  text,
  (version) => version,
  (version) => {
    const known = halVersions.find((one) => one === version);
    if (known === undefined) throw new UnreadableBytes(`${version} is not a HAL version`);
    return known;
  },
);

const start: Codec<string> = mapCodec<string, string>(
  text,
  (value) => value,
  (value) => {
    if (value !== magic) throw new UnreadableBytes("the peer does not speak the protocol of nnhal");
    return value;
  },
);

const helloFrame = struct({ magic: start, versions: list(uint32), service: text });
const welcomeFrame = struct<Welcome & { readonly magic: string }>({
  magic: start,
  refusal: nullable(text),
  version: uint32,
  name: text,
  halVersion,
  status: deviceStatus,
  prepareModelFromCache: flag,
  allocate: flag,
});

export const hello: Codec<Hello> = mapCodec(
  helloFrame,
  (value: Hello) => ({ magic, ...value }),
  ({ versions, service }) => ({ versions, service }),
);
export const welcome: Codec<Welcome> = mapCodec(
  welcomeFrame,
  (value: Welcome) => ({ magic, ...value }),
  ({ magic: _, ...value }) => value,
);

/** A frame of the handshake. */
export function handshakeFrame<Value>(kind: "hello" | "welcome", codec: Codec<Value>, value: Value): Uint8Array {
  const content = encode(codec, value);
  const frame = new Uint8Array(1 + content.length);
  frame[0] = FrameKind[kind];
  frame.set(content, 1);
  return frame;
}
