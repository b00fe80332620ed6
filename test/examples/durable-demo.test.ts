import { expect, test } from 'vitest';
import { describeWithRestate } from '../support/durable/restate-server.js';
import { runScript } from '../support/examples/run-script.js';

describeWithRestate('npm run demo:durable', () => {
  test('kills its service in a tool call, and another process finishes the run', async () => {
    const { code, stdout, stderr } = await runScript('examples/durable/main.ts');
    const lines = stdout.split('\n').map((line) =>
      line
        .trim()
        .replace(/^\d+ +/, '')
        .replace(/\s+/g, ' '),
    );
    const linesWith = (text: string) => lines.filter((line) => line.includes(text));

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(linesWith('died of SIGKILL')).toHaveLength(1);
    expect(linesWith('tool fee of Bergen')).toHaveLength(1);
    expect(linesWith('tool fee of Riga')).toHaveLength(2);
    expect(linesWith('tool pay 80 euro')).toHaveLength(1);
    expect(linesWith('model call').map((line) => line.at(-1))).toEqual(['1', '2', '3']);
    expect(lines).toContain('Agent Riga is the cheapest harbour. The fee of 80 euro is paid.');
  });
});
