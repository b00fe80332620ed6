import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, type RunContext } from 'keelson';
import { delays, fails, says, scriptedModel } from 'keelson/testing';

// #region state
class Stopwatch implements AgentLifecycle {
  readonly name = 'stopwatch';
  readonly times: number[] = [];
  private readonly started = new WeakMap<RunContext, number>();

  beforeAgent(_input: string, run: RunContext): void {
    this.started.set(run, run.clock.now());
  }

  afterAgent(_text: string, run: RunContext): void {
    this.note(run);
  }

  onError(_error: unknown, run: RunContext): void {
    this.note(run);
  }

  private note(run: RunContext): void {
    this.times.push(run.clock.now() - (this.started.get(run) ?? run.clock.now()));
  }
}
// #endregion

const stopwatch = new Stopwatch();
const slow = new Agent({ model: scriptedModel(delays(20, says('late'))), lifecycle: [stopwatch] });
await Promise.all([slow.run('a'), slow.run('b')]);
await assert.rejects(slow.run('c', { model: scriptedModel(fails()) }));
assert.equal(stopwatch.times.length, 3);
assert.ok(stopwatch.times.slice(0, 2).every((ms) => ms >= 15));
