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
    const onScroll = () => setAtEnd(current.scrollHeight - current.scrollTop - current.clientHeight < NEAR);
    current.addEventListener('scroll', onScroll, { passive: true });
    return () => current.removeEventListener('scroll', onScroll);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd) log.current.scrollTop = log.current.scrollHeight;
  });
  return { log, isAtEnd, toEnd };
}
