/** What is to be known of the body of an answer. */
export interface BodyWatcher {
  readonly maxBytes: number;
  /** Once, when nothing more comes: with an error where it broke off or was too long. Not where it was let go. */
  onEnd(error?: unknown): void;
  tooLong(): Error;
}

/** The same answer, with a body that is watched and bounded. Of a stream of events each one is bounded by itself. */
export function limitBody(response: Response, watcher: BodyWatcher): Response {
  const { body, status, statusText, headers, url } = response;
  if (body === null) {
    watcher.onEnd();
    return response;
  }
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false;
  const watched = new Response(watchStream(body, isStream ? new EventMeter() : new WholeMeter(), watcher), {
    ...{ status, statusText, headers },
  });
  // A redirect that was not followed is told by it.
  Object.defineProperty(watched, 'url', { value: url });
  return watched;
}

function watchStream(body: ReadableStream<Uint8Array>, meter: Meter, watcher: BodyWatcher): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const fail = (controller: ReadableStreamDefaultController, error: unknown) => {
    watcher.onEnd(error);
    controller.error(error);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          watcher.onEnd();
          return controller.close();
        }
        if (meter.add(value) <= watcher.maxBytes) return controller.enqueue(value);
        const error = watcher.tooLong();
        fail(controller, error);
        await reader.cancel(error).catch(() => {});
      } catch (error) {
        fail(controller, error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Counts the bytes of the message that a stream is in. */
interface Meter {
  /** The most that one message had, since the last call. */
  add(chunk: Uint8Array): number;
}

class WholeMeter implements Meter {
  private size = 0;

  add(chunk: Uint8Array): number {
    this.size += chunk.length;
    return this.size;
  }
}

const NEWLINE = 10;
const RETURN = 13;

/** An event ends with an empty line. */
class EventMeter implements Meter {
  private size = 0;
  private lineIsEmpty = true;

  add(chunk: Uint8Array): number {
    let most = 0;
    for (const byte of chunk) {
      this.size += 1;
      if (byte === NEWLINE) {
        if (this.lineIsEmpty) {
          most = Math.max(most, this.size);
          this.size = 0;
        }
        this.lineIsEmpty = true;
      } else if (byte !== RETURN) this.lineIsEmpty = false;
    }
    return Math.max(most, this.size);
  }
}
