/** The places of a model's requests: a limited number, for those that wait and those that compute. */
import { RequestError } from "./errors.ts";

/** The place of a request that has arrived completely. */
export interface Place {
  /** Leaves the place, if the request has not been given to `run`. */
  leave(): void;
}

/** See the file's head. */
export interface Places {
  /** Number of places that are taken. */
  readonly taken: number;
  /** True once `close` was called. */
  readonly isClosed: boolean;
  /** Throws a RequestError that is `busy` if all places are taken, or `unavailable` after `close`. */
  enter(): Place;
  /** Throws as `enter` does, without taking a place. */
  expectPlace(): void;
  /** Gives no more places. Resolves when all are free. */
  close(): Promise<void>;
}

/** `most`: number of places. `secondsLeft`: estimates when one will be free, for the refusal. */
export function createPlaces(most: number, secondsLeft: (taken: number) => number): Places {
  const places = new Set<Place>();
  let isClosed = false;
  let onEmpty = () => {};

  const expectPlace = () => {
    if (isClosed) throw new RequestError("unavailable", "the model is being unloaded");
    if (places.size < most) return;
    throw new RequestError("busy", `the model has ${places.size} requests, which are the most it takes`, {
      retryAfter: Math.max(1, Math.ceil(secondsLeft(places.size))),
    });
  };

  return {
    get taken() {
      return places.size;
    },
    get isClosed() {
      return isClosed;
    },
    expectPlace,
    enter() {
      expectPlace();
      const place: Place = {
        leave() {
          places.delete(place);
          if (places.size === 0) onEmpty();
        },
      };
      places.add(place);
      return place;
    },
    async close() {
      isClosed = true;
      if (places.size === 0) return;
      await new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
    },
  };
}
