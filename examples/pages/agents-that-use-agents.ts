import { Agent, formatRun, HookAction } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';

const pilot = new Agent({
  name: 'pilot',
  model: scriptedModel(() => 'A coast to port.'),
  lifecycle: [
    { name: 'guard', beforeAgent: (task) => (/night/.test(task) ? HookAction.reject('too dark') : undefined) },
  ],
});

const model = scriptedModel([
  calls({ name: 'pilot', input: { prompt: 'Look by day.' } }, { name: 'pilot', input: { prompt: 'Look by night.' } }),
  'By day, a coast to port. By night, nobody can tell.',
]);
const captain = new Agent({
  name: 'captain',
  model,
  tools: [pilot.asTool({ description: 'Looks around.' })],
  maxTurns: { limit: 5, total: 20 },
});

const result = await captain.run('What do you see?');
console.log(formatRun(result));
