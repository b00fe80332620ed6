import type { Reporter, TestModule } from 'vitest/node';

const tally = { passed: 0, failed: 0, skipped: 0, pending: 0 };

/** Prints `N passed, N failed` as the last line of the output, after the summary and the coverage table. */
export default class PlainLineReporter implements Reporter {
  onInit(): void {
    process.once('exit', () => {
      const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : '';
      process.stdout.write(`${tally.passed} passed, ${tally.failed} failed${skipped}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    Object.assign(tally, { passed: 0, failed: unhandledErrors.length, skipped: 0 });
    for (const module of modules) {
      // A file that fails to load contains no tests, but counts as a failure.
      if (module.errors().length > 0) tally.failed += 1;
      for (const test of module.children.allTests()) tally[test.result().state] += 1;
    }
  }
}
