/**
 * Messages between a thread that decodes a picture and its caller.
 */
import type { Wanted } from "./formats.ts";
import type { Picture } from "./picture.ts";

/** The work of a thread. */
export interface DecodingRequest {
  readonly bytes: Uint8Array;
  readonly wanted: Wanted;
}

/** First, that the thread has been loaded; then its picture, or why there is none. */
export type DecodingAnswer = "loaded" | { readonly picture: Picture } | { readonly problem: string };
