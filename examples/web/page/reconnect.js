import { useEffect, useState } from 'react';
import { loadChat } from './server.js';

const RETRY_MS = 1_000;

/**
 * Shows what was said meanwhile, and follows the answer that runs: after each answer, after a lost connection, and when the
 * page comes back to the front. Passes everything that is loaded to `showAll`. Returns true while the server cannot be reached.
 */
export function useReconnect(
  { id, status, error, messages, setMessages, resumeStream, sendMessage, clearError },
  showAll,
) {
  const isIdle = status === 'ready' || status === 'error';
  // Only a fetch without a connection fails with a TypeError.
  const isLost = error instanceof TypeError;
  const [isOffline, setOffline] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of `chat` are the same at each render.
  useEffect(() => {
    if (!isIdle) return;
    let isLeft = false;
    let timer = setTimeout(catchUp, isLost ? RETRY_MS : 0);
    async function catchUp() {
      clearTimeout(timer);
      const loaded = await loadChat(id).catch(() => undefined);
      if (isLeft) return;
      setOffline(loaded === undefined);
      if (loaded !== undefined) await show(loaded);
      if (!isLeft && (loaded?.running !== false || loaded.waiting || loaded.background))
        timer = setTimeout(catchUp, RETRY_MS);
    }
    async function show(loaded) {
      const { messages: stored, running, waiting = [] } = loaded;
      showAll(loaded);
      const last = messages.at(-1);
      const known = [...stored, ...waiting];
      const isUnsent = last?.role === 'user' && !known.some(({ id }) => id === last.id);
      setMessages(isUnsent && !isLost ? [...stored, last] : stored);
      if (running) await resumeStream();
      if (isLost && isUnsent) await sendMessage(last);
      else if (isLost && !running) clearError();
    }
    addEventListener('focus', catchUp);
    addEventListener('online', catchUp);
    return () => {
      isLeft = true;
      clearTimeout(timer);
      removeEventListener('focus', catchUp);
      removeEventListener('online', catchUp);
    };
  }, [isIdle, isLost]);
  return isOffline || isLost;
}
