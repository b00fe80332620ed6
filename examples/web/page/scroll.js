import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR = 48;

/** Keeps the end of the messages in view while they grow, unless the person has scrolled up to read. */
export function useScroll() {
  const log = useRef(null);
  /** The last position that `follow` has scrolled to, in pixels. */
  const placed = useRef(0);
  const [isAtEnd, setAtEnd] = useState(true);
  // The event of a scroll comes later than the next word, which must not pull the person down again.
  const follow = useCallback(() => {
    const { current } = log;
    if (current.scrollTop < placed.current - 1 && !isNearEnd(current)) return setAtEnd(false);
    current.scrollTop = current.scrollHeight;
    placed.current = current.scrollTop;
  }, []);
  const toEnd = () => {
    placed.current = 0;
    follow();
    setAtEnd(true);
  };
  useEffect(() => {
    const { current } = log;
    const look = () => setAtEnd(isNearEnd(current));
    current.addEventListener('scroll', look, { passive: true });
    // A card was folded or unfolded. The event does not bubble.
    current.addEventListener('toggle', look, { capture: true });
    return () => {
      current.removeEventListener('scroll', look);
      current.removeEventListener('toggle', look, { capture: true });
    };
  }, []);
  useEffect(() => {
    if (!isAtEnd) return;
    const { current } = log;
    const observer = new ResizeObserver(follow);
    observer.observe(current);
    return () => observer.disconnect();
  }, [isAtEnd, follow]);
  useLayoutEffect(() => {
    if (isAtEnd) follow();
  });
  return { log, isAtEnd, toEnd };
}

function isNearEnd({ scrollHeight, scrollTop, clientHeight }) {
  return scrollHeight - scrollTop - clientHeight < NEAR;
}
