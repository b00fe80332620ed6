import { KeyedListeners } from '../../state/keyed-listeners.js';
import { isIoRedis, type RedisSubscriber } from './client.js';

/** Calls listeners when a message arrives on a Redis channel. Subscribes to a channel only while it has a listener. */
export class RedisChannels {
  private readonly listeners = new KeyedListeners(
    (channel, isUsed) => void this.switch(isUsed ? 'subscribe' : 'unsubscribe', channel),
  );

  constructor(private readonly subscriber: RedisSubscriber) {
    if (isIoRedis(subscriber)) subscriber.on('message', (channel) => this.onMessage('', channel));
  }

  /** Adds a listener for a channel. Returns a function that removes it. */
  watch(channel: string, listener: () => void): () => void {
    return this.listeners.add(channel, listener);
  }

  private readonly onMessage = (_message: unknown, channel: unknown) => this.listeners.call(String(channel));

  private async switch(to: 'subscribe' | 'unsubscribe', channel: string): Promise<void> {
    const { subscriber } = this;
    try {
      await (isIoRedis(subscriber) ? subscriber[to](channel) : subscriber[to](channel, this.onMessage));
    } catch {
      // Ignores the failure, because a watch only shortens the wait between two regular reads.
    }
  }
}
