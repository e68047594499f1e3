/**
 * Pictures of a camera, one after another.
 */
import { h } from "preact";
import type { Pixels } from "./drawing-pad.ts";
import { type Live, LiveInput } from "./live-input.ts";

/** Frames are not wider: results are drawn on them. */
const MOST_WIDTH = 480;

/** A button that starts and ends the camera. `onFrame` resolves once the network has taken the frame. */
export function CameraInput({ onFrame }: { readonly onFrame: (pixels: Pixels) => Promise<void> }) {
  const pass = (live: Live) => passFrames(live, onFrame);
  return h(LiveInput, { name: "camera", constraints: { video: true }, pass, hasVideo: true });
}

async function passFrames(
  { stream, video, hasEnded, count }: Live,
  onFrame: (pixels: Pixels) => Promise<void>,
): Promise<void> {
  if (video === null) return;
  video.srcObject = stream;
  await video.play();
  const scale = Math.min(1, MOST_WIDTH / video.videoWidth);
  const [width, height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  while (!hasEnded() && context !== null) {
    context.drawImage(video, 0, 0, width, height);
    await onFrame({ width, height, data: context.getImageData(0, 0, width, height).data });
    count();
  }
}
