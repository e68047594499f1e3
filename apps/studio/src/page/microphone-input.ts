/**
 * The sound of a microphone: the last samples, again and again.
 */
import { h } from "preact";
import { MOST_SAMPLES } from "./input-kinds.ts";
import { type Live, LiveInput } from "./live-input.ts";

interface MicrophoneProps {
  /** Samples of the input: at most `MOST_SAMPLES`. */
  readonly count: number;
  /** Samples in a second. */
  readonly rate: number;
  /** Resolves once the network has taken the samples. */
  readonly onSamples: (samples: Float32Array) => Promise<void>;
}

/** A button that starts and ends the microphone. */
export function MicrophoneInput({ count, rate, onSamples }: MicrophoneProps) {
  const pass = async (live: Live) => {
    const context = new AudioContext({ sampleRate: rate });
    try {
      const heard = new AnalyserNode(context, { fftSize: MOST_SAMPLES });
      context.createMediaStreamSource(live.stream).connect(heard);
      const samples = new Float32Array(MOST_SAMPLES);
      while (!live.hasEnded()) {
        heard.getFloatTimeDomainData(samples);
        await onSamples(samples.slice(MOST_SAMPLES - count));
        live.count();
      }
    } finally {
      await context.close();
    }
  };
  return h(LiveInput, { name: "microphone", constraints: { audio: true }, pass });
}
