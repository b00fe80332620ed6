type Kill = (signal: NodeJS.Signals) => void;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const live = new Set<Kill>();

/**
 * Has `kill` called where this process ends before the returned function was called. There is one listener an event,
 * however many groups live, and none while none does.
 */
export function killAtHostExit(kill: Kill): () => void {
  if (live.size === 0) listen();
  live.add(kill);
  return () => {
    if (live.delete(kill) && live.size === 0) unlisten();
  };
}

/** Whether the host has a handler of its own for a signal: another one than `ours`. */
export function isHandled(signal: NodeJS.Signals, ours?: NodeJS.SignalsListener): boolean {
  return process.listeners(signal).some((listener) => listener !== onSignal && listener !== ours);
}

function listen(): void {
  process.on('exit', onExit);
  // First in line: a `once` handler of the host's is off the list by the time that it runs.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

function unlisten(): void {
  process.off('exit', onExit);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onExit(): void {
  killAll('SIGKILL');
}

/**
 * A listener takes the place of what a signal does by default. Where it is ours alone, everything is killed and the
 * signal raised again. Where the host has its own, the groups are asked to end, and ours is off the list while the
 * others run: some end the process only where they find themselves alone.
 */
function onSignal(signal: NodeJS.Signals): void {
  process.off(signal, onSignal);
  if (isHandled(signal)) {
    killAll('SIGTERM');
    setImmediate(() => {
      if (live.size > 0 && !process.listeners(signal).includes(onSignal)) process.prependListener(signal, onSignal);
    });
    return;
  }
  killAll('SIGKILL');
  unlisten();
  process.kill(process.pid, signal);
}

function killAll(signal: NodeJS.Signals): void {
  for (const kill of [...live]) kill(signal);
}
