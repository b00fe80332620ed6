import type { SessionStore } from '../../../src/state/session-store.js';

/** Returns a store that passes every call to `inner`, except the calls of the methods in `changes`. */
export function storeOver(inner: SessionStore, changes: Partial<SessionStore>): SessionStore {
  return {
    load: (...given) => inner.load(...given),
    append: (...given) => inner.append(...given),
    post: (...given) => inner.post(...given),
    delete: (...given) => inner.delete(...given),
    claim: (...given) => inner.claim(...given),
    renew: (...given) => inner.renew(...given),
    list: (...given) => inner.list(...given),
    update: (...given) => inner.update(...given),
    ...changes,
  };
}
