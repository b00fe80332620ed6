import { useEffect, useState } from 'react';
import { chatId, loadHistory } from './history.js';

const RETRY_MS = 1_000;

/**
 * Shows what was said meanwhile, and follows the answer that runs: after each answer, after a lost connection, and when the
 * page comes back to the front. Returns true while the server cannot be reached.
 */
export function useReconnect(
  { status, error, messages, setMessages, resumeStream, sendMessage, clearError },
  { showAll },
) {
  const isIdle = status === 'ready' || status === 'error';
  // Only a fetch without a connection fails with a TypeError.
  const isLost = error instanceof TypeError;
  const [isOffline, setOffline] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of `chat` are the same at each render.
  useEffect(() => {
    if (!isIdle) return;
    let isLeft = false;
    let timer = setTimeout(catchUp, RETRY_MS);
    async function catchUp() {
      clearTimeout(timer);
      const history = await loadHistory(chatId).catch(() => undefined);
      if (isLeft) return;
      setOffline(history === undefined);
      if (history !== undefined) await show(history);
      if (!isLeft && (history?.running !== false || history.waiting || history.background))
        timer = setTimeout(catchUp, RETRY_MS);
    }
    async function show({ messages: stored, running, ...rest }) {
      showAll(rest);
      const last = messages.at(-1);
      const known = [...stored, ...(rest.waiting ?? [])];
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
