import { Agent, TurnLimitError } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';

const agent = new Agent({ model: scriptedModel(() => calls('search')), maxTurns: 3 });
try {
  await agent.run('Search until you find it.');
} catch (error) {
  if (!(error instanceof TurnLimitError)) throw error;
  console.log(error.code, error.message, error.history.length);
}
