import type { Agent, Session } from 'keelson';

export async function speak(session: Session) {
  // #region receipt
  const sent = await session.send('Also check the harbour of Bergen.');
  const isTakenBack = await sent.cancel();
  if (!isTakenBack) console.log(await sent.state());
  // #endregion
}

export async function stop(session: Session) {
  // #region stop
  const hasStopped = await session.stop({ reason: 'Ada pressed the button.', by: 'ada' });
  // #endregion
  return hasStopped;
}

export function showWorks(agent: Agent) {
  // #region background
  for (const { id, label, session, since } of agent.status().background) {
    console.log(`${label} (${id}) in session ${session} since ${new Date(since).toISOString()}`);
  }
  // #endregion
}
