/** A store whose sessions can be deleted, such as a SessionStore. */
export interface DeletingStore {
  /** Deletes a session. */
  delete(id: string): unknown;
}

/** Returns a store that calls `clear` after it has deleted a session. All other members are those of `store`. */
export function deletingState<Store extends DeletingStore>(
  store: Store,
  clear: (session: string) => Promise<unknown>,
): Store {
  const remove = async (id: string) => {
    await store.delete(id);
    await clear(id);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'delete') return remove;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
