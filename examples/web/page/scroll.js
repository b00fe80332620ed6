import { useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR = 48;

/** Keeps the end of the messages in view while they grow, unless the person has scrolled up to read. */
export function useScroll() {
  const log = useRef(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = () => {
    log.current.scrollTop = log.current.scrollHeight;
    setAtEnd(true);
  };
  useEffect(() => {
    const { current } = log;
    const look = () => setAtEnd(current.scrollHeight - current.scrollTop - current.clientHeight < NEAR);
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
    const observer = new ResizeObserver(() => {
      current.scrollTop = current.scrollHeight;
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [isAtEnd]);
  useLayoutEffect(() => {
    if (isAtEnd) log.current.scrollTop = log.current.scrollHeight;
  });
  return { log, isAtEnd, toEnd };
}
