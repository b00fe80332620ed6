import type { SessionStore } from 'keelson/store';
import { storeOver } from './store-over.js';

/** Returns a store, and the ids of the conversations that it holds, those without entries included. */
export function watchRows(inner: SessionStore): { readonly store: SessionStore; readonly rows: Set<string> } {
  const rows = new Set<string>();
  const store = storeOver(inner, {
    claim: (id, claim) => {
      rows.add(id);
      return inner.claim(id, claim);
    },
    delete: (id) => {
      rows.delete(id);
      return inner.delete(id);
    },
  });
  return { store, rows };
}
