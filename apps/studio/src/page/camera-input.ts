/**
 * Pictures of a camera, one after another, as fast as the network takes them.
 */
import { useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { messageOf } from "../text.ts";
import type { Pixels } from "./drawing-pad.ts";
import { problem } from "./store.ts";

/** Frames are not wider: results are drawn on them. */
const MOST_WIDTH = 480;

/** A button that starts and ends the camera. `onFrame` resolves once the network has taken the frame. */
export function CameraInput({ onFrame }: { readonly onFrame: (pixels: Pixels) => Promise<void> }) {
  const isOn = useSignal(false);
  const rate = useSignal(0);
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (!isOn.value) return;
    let hasEnded = false;
    let stream: MediaStream | undefined;
    const run = async () => {
      stream = await navigator.mediaDevices.getUserMedia({ video: true });
      const element = video.current;
      if (hasEnded || element === null) return;
      element.srcObject = stream;
      await element.play();
      await passFrames(
        element,
        onFrame,
        () => hasEnded,
        (now) => {
          rate.value = now;
        },
      );
    };
    run()
      .catch((error: unknown) => {
        problem.value = `the camera cannot be used: ${messageOf(error)}`;
        isOn.value = false;
      })
      .finally(() => {
        for (const track of stream?.getTracks() ?? []) track.stop();
      });
    return () => {
      hasEnded = true;
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
  }, [isOn.value]);
  return h(
    "span",
    { class: "camera" },
    h(
      "button",
      {
        type: "button",
        "aria-pressed": isOn.value,
        onClick: () => {
          isOn.value = !isOn.value;
        },
      },
      isOn.value ? "Stop the camera" : "Camera",
    ),
    isOn.value && h("video", { ref: video, muted: true, playsInline: true, "aria-label": "The camera" }),
    isOn.value && rate.value > 0 && h("span", { class: "soft rate" }, `${rate.value.toFixed(1)} frames a second`),
  );
}

/** Passes frames on until it is to end. `onRate`: frames a second, over the last second or so. */
async function passFrames(
  video: HTMLVideoElement,
  onFrame: (pixels: Pixels) => Promise<void>,
  hasEnded: () => boolean,
  onRate: (rate: number) => void,
): Promise<void> {
  const scale = Math.min(1, MOST_WIDTH / video.videoWidth);
  const [width, height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let [since, frames] = [performance.now(), 0];
  while (!hasEnded() && context !== null) {
    context.drawImage(video, 0, 0, width, height);
    await onFrame({ width, height, data: context.getImageData(0, 0, width, height).data });
    frames++;
    const passed = performance.now() - since;
    if (passed < 1000) continue;
    onRate((1000 * frames) / passed);
    [since, frames] = [performance.now(), 0];
  }
}
