/** Waiting places: a limited number for all clients, and for each, so that there are places for others. */

/** Limits of waiting work. */
export interface WaitingLimits {
  /** Maximum number of waiting tasks of all clients. Default: 4096. */
  readonly waiting?: number | undefined;
  /** Maximum number of waiting tasks of one client, so that there are places for others. Default: 1024. */
  readonly waitingPerClient?: number | undefined;
}

/** See the file's head. */
export interface WaitingPlaces {
  /** Returns true if a client has no waiting place left. */
  isFull(client: object): boolean;
  take(client: object): void;
  giveBack(client: object): void;
}

/** All places are free. Throws RangeError for a limit below 1. */
export function createWaitingPlaces({ waiting = 4096, waitingPerClient = 1024 }: WaitingLimits): WaitingPlaces {
  for (const [what, limit] of Object.entries({ waiting, waitingPerClient })) {
    if (!(limit >= 1)) throw new RangeError(`a scheduler needs ${what} of at least 1, not ${limit}`);
  }
  /** The places of each client that has some. */
  const places = new Map<object, number>();
  let taken = 0;
  return {
    isFull: (client) => taken >= waiting || (places.get(client) ?? 0) >= waitingPerClient,
    take(client) {
      taken++;
      places.set(client, (places.get(client) ?? 0) + 1);
    },
    giveBack(client) {
      taken--;
      const left = (places.get(client) ?? 1) - 1;
      if (left > 0) places.set(client, left);
      else places.delete(client);
    },
  };
}
