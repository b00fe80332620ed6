import { isIoRedis, type RedisSubscriber } from './client.js';

/** Calls listeners when a message arrives on a channel. Subscribes to a channel while it has listeners. */
export class RedisChannels {
  private readonly listeners = new Map<string, Set<() => void>>();

  constructor(private readonly subscriber: RedisSubscriber) {
    if (isIoRedis(subscriber)) subscriber.on('message', (channel) => this.onMessage('', channel));
  }

  /** Returns a function that ends the watch. */
  watch(channel: string, listener: () => void): () => void {
    const call = () => listener();
    const listeners = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, listeners.add(call));
    if (listeners.size === 1) void this.switch('subscribe', channel);
    return () => {
      if (!listeners.delete(call) || listeners.size > 0) return;
      this.listeners.delete(channel);
      void this.switch('unsubscribe', channel);
    };
  }

  private readonly onMessage = (_message: unknown, channel: unknown) => {
    for (const call of this.listeners.get(String(channel)) ?? []) call();
  };

  private async switch(to: 'subscribe' | 'unsubscribe', channel: string): Promise<void> {
    const { subscriber } = this;
    try {
      await (isIoRedis(subscriber) ? subscriber[to](channel) : subscriber[to](channel, this.onMessage));
    } catch {
      // A watch only shortens the wait: who waits for posts also looks from time to time.
    }
  }
}
