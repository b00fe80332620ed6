type Kill = (signal: NodeJS.Signals) => void;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const live = new Set<Kill>();

/**
 * Calls `kill` when this process ends, unless the returned function was called before. All registered callbacks share
 * one listener per event, which is removed with the last callback.
 */
export function killAtHostExit(kill: Kill): () => void {
  if (live.size === 0) listen();
  live.add(kill);
  return () => {
    if (live.delete(kill) && live.size === 0) unlisten();
  };
}

/** True if the host application has its own handler for the signal, other than `ours`. */
export function isHandled(signal: NodeJS.Signals, ours?: NodeJS.SignalsListener): boolean {
  return process.listeners(signal).some((listener) => listener !== onSignal && listener !== ours);
}

function listen(): void {
  process.on('exit', onExit);
  // Our handler must run first: Node removes a `once` handler of the host before it calls that handler, and `isHandled`
  // would no longer find it.
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
 * Replaces the default action of a signal, because a listener disables that action.
 *
 * If the host has no handler, kills every group and raises the signal again. If it has one, sends SIGTERM to every
 * group. This listener is removed while the host's handlers run, since some exit only if no other listener exists.
 *
 * See docs/decisions/0020-group-ends-with-its-leader.md.
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
