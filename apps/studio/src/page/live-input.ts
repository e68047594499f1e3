/**
 * Inputs that never end: a camera or a microphone, whose stream passes to the network as fast as that takes it.
 */
import { useSignal } from "@preact/signals";
import { type ComponentChildren, h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { messageOf } from "../text.ts";
import { problem } from "./store.ts";

/** A stream that is on. */
export interface Live {
  readonly stream: MediaStream;
  /** The element that shows it, if there is one. */
  readonly video: HTMLVideoElement | null;
  hasEnded(): boolean;
  /** Counts a run of the network. */
  count(): void;
}

interface LiveProps {
  /** Name of the device: camera, microphone. */
  readonly name: string;
  readonly constraints: MediaStreamConstraints;
  /** Passes the stream on until it has ended. */
  readonly pass: (live: Live) => Promise<void>;
  readonly hasVideo?: boolean;
}

/** A button that starts and ends a stream, with the runs of a second beside it. */
export function LiveInput({ name, constraints, pass, hasVideo = false }: LiveProps): ComponentChildren {
  const isOn = useSignal(false);
  const rate = useSignal(0);
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (!isOn.value) return;
    let hasEnded = false;
    let stream: MediaStream | undefined;
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    let [since, runs] = [performance.now(), 0];
    const count = () => {
      runs++;
      const passed = performance.now() - since;
      if (passed < 1000) return;
      rate.value = (1000 * runs) / passed;
      [since, runs] = [performance.now(), 0];
    };
    const run = async () => {
      if (Reflect.get(navigator, "mediaDevices") === undefined)
        throw new Error("browsers permit it only to pages of this machine, and of addresses that begin with https");
      stream = await navigator.mediaDevices.getUserMedia(constraints);
      if (!hasEnded) await pass({ stream, video: video.current, hasEnded: () => hasEnded, count });
    };
    run()
      .catch((error: unknown) => {
        problem.value = `the ${name} cannot be used: ${messageOf(error)}`;
        isOn.value = false;
      })
      .finally(stop);
    return () => {
      hasEnded = true;
      rate.value = 0;
      stop();
    };
  }, [isOn.value]);
  return h(
    "span",
    { class: "live" },
    h(
      "button",
      {
        type: "button",
        "aria-pressed": isOn.value,
        onClick: () => {
          isOn.value = !isOn.value;
        },
      },
      isOn.value ? `Stop the ${name}` : `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    ),
    isOn.value && hasVideo && h("video", { ref: video, muted: true, playsInline: true, "aria-label": `The ${name}` }),
    isOn.value && rate.value > 0 && h("span", { class: "soft rate" }, `${rate.value.toFixed(1)} runs a second`),
  );
}
