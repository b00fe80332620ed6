import type { McpServerState } from './status.js';

/** The steps from one state of a server to another. docs/architecture.md explains each step. `closed` is final. */
export const STEPS = {
  ask: { from: ['idle', 'pending', 'denied', 'reconnecting', 'unavailable'], to: 'pending' },
  try: { from: ['idle', 'pending', 'denied', 'unavailable'], to: 'connecting' },
  retry: { from: ['pending', 'denied', 'reconnecting', 'unavailable'], to: 'reconnecting' },
  decline: { from: ['pending', 'connecting', 'reconnecting'], to: 'denied' },
  withhold: { from: ['pending', 'connecting', 'reconnecting'], to: 'pending' },
  connect: { from: ['connecting', 'reconnecting'], to: 'connected' },
  lose: { from: ['connected'], to: 'reconnecting' },
  fail: { from: ['pending', 'connecting', 'reconnecting'], to: 'unavailable' },
  close: {
    from: ['idle', 'pending', 'denied', 'disabled', 'connecting', 'connected', 'reconnecting', 'unavailable'],
    to: 'closed',
  },
} as const satisfies Readonly<Record<string, { from: readonly McpServerState[]; to: McpServerState }>>;

export type ServerStep = keyof typeof STEPS;

/** Returns the state after a step. A step that does not begin in this state changes nothing. */
export function stateAfter(state: McpServerState, step: ServerStep): McpServerState {
  const { from, to }: { readonly from: readonly McpServerState[]; readonly to: McpServerState } = STEPS[step];
  return from.includes(state) ? to : state;
}
